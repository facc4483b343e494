import { applyDecorators } from '@nestjs/common';
import { IsInt, Matches, Max, Min } from 'class-validator';
import { HOLDER_PATTERN, WINDOW_MS } from '@leaf-ids/core/internal';
import { Omittable } from '../http/responses/omittable';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { HOLDER, LAST_TIMESTAMP, LEASE, LEASE_PATTERN, WORKER_ID } from './window-answers';

function IsWindow(): PropertyDecorator {
  const { least, most } = WINDOW_MS;
  const rule = { message: `windowMs must be a whole number from ${least} to ${most}` };
  return applyDecorators(Omittable(), IsInt(rule), Min(least, rule), Max(most, rule));
}

function IsWhole(property: string): PropertyDecorator {
  const rule = { message: `${property} must be a whole number of 0 or more` };
  return applyDecorators(Omittable(), IsInt(rule), Min(0, rule), Max(Number.MAX_SAFE_INTEGER, rule));
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
export class ExtensionBody {
  @ApiPropertyOptional(WINDOW)
  @IsWindow()
  readonly windowMs?: number;

  @ApiPropertyOptional(WORKER_ID)
  @IsWhole('workerId')
  readonly workerId?: number;
}

/** `DELETE /api/workers/:lease`. */
@ApiSchema({ name: 'WorkerWindowRelease', additionalProperties: false })
export class ReleaseBody {
  @ApiPropertyOptional(LAST_TIMESTAMP)
  @IsWhole('lastTimestamp')
  readonly lastTimestamp?: number;
}
