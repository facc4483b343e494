import { applyDecorators } from '@nestjs/common';
import { IsBoolean, IsIn, IsInt, IsString, Matches, Max, Min, ValidateBy, ValidateIf } from 'class-validator';
import { type Interleave, MAX_ID, type TagOrder, type TagReset } from '@leaf-ids/core';
import {
  DEFAULT_STEP,
  fitsDescription,
  MAX_DESCRIPTION,
  MAX_REASON,
  MAX_STEP,
  ORDERS,
  PERIOD_PATTERN,
  REASON_PATTERN,
  RESET_PATTERN,
  RESET_RULE,
} from '@leaf-ids/core/internal';
import { Omittable } from '../http/responses/omittable';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { ANY_TAG } from '../openapi/schemas';
import { KIND, ZONE_PATTERN } from './tag-rows';

const INTERLEAVE = ['of', 'remainder', 'block'];
const DECIMAL_ID = /^[1-9][0-9]{0,18}$/;

const STEPS = { type: 'integer', minimum: 1, maximum: MAX_STEP } as const;
const STEP = { ...STEPS, description: 'Minimum size of a segment, in IDs.', example: 1000 } as const;
const LARGEST_STEP = {
  ...STEPS,
  description: 'Maximum size of a segment, in IDs; at least `step`. Set it equal to `step` for a fixed size.',
  example: 100_000,
} as const;
const DECIMAL = { type: 'string', format: 'int64', pattern: DECIMAL_ID.source } as const;
const LAST_ID = {
  ...DECIMAL,
  description: `The last ID that the tag can issue, at most ${MAX_ID - 1n}.`,
  example: '999999',
} as const;

/** The property can be omitted; null removes the setting. */
function Removable(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined && value !== null);
}

function IsStep(property: string): PropertyDecorator {
  const rule = { message: `${property} must be a whole number from 1 to ${MAX_STEP}` };
  return applyDecorators(IsInt(rule), Min(1, rule), Max(MAX_STEP, rule));
}

function IsDecimalId(property: string): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && DECIMAL_ID.test(value) && BigInt(value) <= MAX_ID;
  const message = `${property} must be a decimal string from "1" to "${MAX_ID}"`;
  return ValidateBy({ name: 'isDecimalId', validator: { validate, defaultMessage: () => message } });
}

function IsDescription(): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && fitsDescription(value) && /^[^\p{Cc}\p{Cs}]*$/u.test(value);
  const message = `description must be text of at most ${MAX_DESCRIPTION} characters, none of them a control character`;
  return ValidateBy({ name: 'isDescription', validator: { validate, defaultMessage: () => message } });
}

/** Checks the types only; the tag store checks the ranges. */
function IsInterleave(): PropertyDecorator {
  const validate = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const entries = Object.entries(value);
    return entries.every(([name, number]) => INTERLEAVE.includes(name) && Number.isInteger(number));
  };
  const message = 'interleave must be an object with the whole numbers "of", "remainder" and "block"';
  return ValidateBy({ name: 'isInterleave', validator: { validate, defaultMessage: () => message } });
}

/** The IDs issued so far depend on the property. */
function CannotChange(property: string): PropertyDecorator {
  const message = `${property} cannot change after the tag is created; create another tag`;
  return ValidateBy({ name: 'cannotChange', validator: { validate: () => false, defaultMessage: () => message } });
}

class TagSettings {
  @ApiPropertyOptional({
    ...DECIMAL,
    description: `The next ID to issue, at most ${MAX_ID}; can only increase.`,
    example: '1',
  })
  @Omittable()
  @IsDecimalId('maxId')
  readonly maxId?: string;

  @ApiPropertyOptional({
    maxLength: MAX_DESCRIPTION,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description: 'What the tag is for, without control characters.',
    example: 'order numbers',
  })
  @Omittable()
  @IsDescription()
  readonly description?: string;
}

/** `PATCH /api/tags/:tag`. */
@ApiSchema({ name: 'TagChange', minProperties: 1, additionalProperties: false })
export class TagChangeBody extends TagSettings {
  @ApiPropertyOptional(STEP)
  @Omittable()
  @IsStep('step')
  readonly step?: number;

  @ApiPropertyOptional({ ...LARGEST_STEP, nullable: true })
  @Removable()
  @IsStep('maxStep')
  readonly maxStep?: number | null;

  @ApiPropertyOptional({ ...LAST_ID, nullable: true })
  @Removable()
  @IsDecimalId('max')
  readonly max?: string | null;

  @Omittable()
  @CannotChange('order')
  readonly order?: never;

  @Omittable()
  @CannotChange('reset')
  readonly reset?: never;

  @Omittable()
  @CannotChange('zone')
  readonly zone?: never;

  @Omittable()
  @CannotChange('interleave')
  readonly interleave?: never;

  @Omittable()
  @CannotChange('pattern')
  readonly pattern?: never;

  @Omittable()
  @CannotChange('reissue')
  readonly reissue?: never;
}

/** `POST /api/tags`. */
@ApiSchema({ name: 'NewTag', additionalProperties: false })
export class NewTagBody extends TagSettings {
  @ApiProperty(ANY_TAG)
  @IsString({ message: 'tag must be text' })
  readonly tag!: string;

  @ApiPropertyOptional({ ...STEP, default: DEFAULT_STEP })
  @Omittable()
  @IsStep('step')
  readonly step?: number;

  @ApiPropertyOptional(LARGEST_STEP)
  @Omittable()
  @IsStep('maxStep')
  readonly maxStep?: number;

  @ApiPropertyOptional(LAST_ID)
  @Omittable()
  @IsDecimalId('max')
  readonly max?: string;

  @ApiPropertyOptional(KIND.order)
  @Omittable()
  @IsIn(ORDERS, { message: `order must be one of ${ORDERS.join(', ')}` })
  readonly order?: TagOrder;

  @ApiPropertyOptional(KIND.reset)
  @Omittable()
  @Matches(RESET_PATTERN, { message: `reset must be ${RESET_RULE}` })
  readonly reset?: TagReset;

  @ApiPropertyOptional(KIND.zone)
  @Omittable()
  @Matches(ZONE_PATTERN, { message: 'zone must be an IANA time zone such as Europe/Berlin' })
  readonly zone?: string;

  @ApiPropertyOptional(KIND.interleave)
  @Omittable()
  @IsInterleave()
  readonly interleave?: Interleave;

  @ApiPropertyOptional(KIND.pattern)
  @Omittable()
  @IsString({ message: 'pattern must be text' })
  readonly pattern?: string;

  @ApiPropertyOptional(KIND.reissue)
  @Omittable()
  @IsBoolean({ message: 'reissue must be true or false' })
  readonly reissue?: boolean;
}

/** `POST /api/tags/:tag/continue`. */
@ApiSchema({ name: 'Continuation', additionalProperties: false })
export class ContinueBody {
  @ApiProperty({
    ...DECIMAL,
    pattern: '^(0|[1-9][0-9]{0,18})$',
    description: 'The last number that may be on a document, or "0".',
    example: '4711',
  })
  @Matches(/^(0|[1-9][0-9]{0,18})$/, { message: 'lastNumber must be a decimal string from "0"' })
  readonly lastNumber!: string;

  @ApiProperty({
    ...{ minLength: 1, maxLength: MAX_REASON, pattern: REASON_PATTERN.source },
    ...{ description: 'For the journal.', example: 'restored a backup' },
  })
  @IsString({ message: 'reason must be text' })
  readonly reason!: string;

  @ApiPropertyOptional({
    pattern: PERIOD_PATTERN.source,
    description: 'The current one by default.',
    example: '2026-11',
  })
  @Omittable()
  @IsString({ message: 'period must be text' })
  readonly period?: string;
}
