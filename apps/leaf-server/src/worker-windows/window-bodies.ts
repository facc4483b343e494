import { applyDecorators } from '@nestjs/common';
import { IsInt, Matches, Max, Min } from 'class-validator';
import { HOLDER_PATTERN, MARKS, WINDOW_MS } from '@leaf-ids/core/internal';
import { Omittable } from '../http/responses/omittable';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { HOLDER, KNOWN, LAST_TIMESTAMP, LEASE, LEASE_PATTERN, MARK, WORKER_ID } from './window-answers';

function IsWindow(): PropertyDecorator {
  const { least, most } = WINDOW_MS;
  const rule = { message: `windowMs must be a whole number from ${least} to ${most}` };
  return applyDecorators(Omittable(), IsInt(rule), Min(least, rule), Max(most, rule));
}

function IsWhole(property: string, most = Number.MAX_SAFE_INTEGER): PropertyDecorator {
  const range = most === Number.MAX_SAFE_INTEGER ? 'of 0 or more' : `from 0 to ${most}`;
  const rule = { message: `${property} must be a whole number ${range}` };
  return applyDecorators(Omittable(), IsInt(rule), Min(0, rule), Max(most, rule));
}

/** What a caller knows of its window, so that a copy of it is noticed: `WindowProgress`. */
class ProgressBody {
  @ApiPropertyOptional(KNOWN)
  @IsWhole('known')
  readonly known?: number;

  @ApiPropertyOptional(MARK)
  @IsWhole('mark', MARKS - 1)
  readonly mark?: number;
}

const WINDOW = {
  type: 'integer',
  minimum: WINDOW_MS.least,
  maximum: WINDOW_MS.most,
  default: WINDOW_MS.default,
  description: 'How long the worker ID may be used from now on without an extension, in milliseconds.',
} as const;

/** `POST /api/workers`. */
@ApiSchema({ name: 'NewWorkerWindow', additionalProperties: false })
export class NewWindowBody {
  @ApiProperty(LEASE)
  @Matches(LEASE_PATTERN, { message: 'lease must be 32 hexadecimal digits, random for each start of a process' })
  readonly lease!: string;

  @ApiProperty(HOLDER)
  @Matches(HOLDER_PATTERN, { message: 'holder must be 1 to 127 printable characters' })
  readonly holder!: string;

  @ApiPropertyOptional(WINDOW)
  @IsWindow()
  readonly windowMs?: number;
}

/** `PUT /api/workers/:lease`. */
@ApiSchema({ name: 'WorkerWindowExtension', additionalProperties: false })
export class ExtensionBody extends ProgressBody {
  @ApiPropertyOptional(WINDOW)
  @IsWindow()
  readonly windowMs?: number;

  @ApiPropertyOptional(WORKER_ID)
  @IsWhole('workerId')
  readonly workerId?: number;
}

/** `DELETE /api/workers/:lease`. */
@ApiSchema({ name: 'WorkerWindowRelease', additionalProperties: false })
export class ReleaseBody extends ProgressBody {
  @ApiPropertyOptional(LAST_TIMESTAMP)
  @IsWhole('lastTimestamp')
  readonly lastTimestamp?: number;
}
