import { IsIn, IsInt, IsString, Matches, Max, Min, ValidateBy, ValidateIf } from 'class-validator';
import {
  fitsDescription,
  type Interleave,
  MAX_DESCRIPTION,
  MAX_ID,
  MAX_STEP,
  ORDERS,
  RESETS,
  type TagOrder,
  type TagReset,
} from '@leaf/core';
import { ZONE_PATTERN } from './tag-rows';

const STEP = { message: `step must be a whole number from 1 to ${MAX_STEP}` };
const MAX_STEP_RULE = { message: `maxStep must be a whole number from 1 to ${MAX_STEP}` };
const INTERLEAVE = ['of', 'remainder', 'block'];

/** Left out is allowed; null is not. */
function MayBeLeftOut(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}

/** Null takes it away. */
function MayBeTakenAway(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined && value !== null);
}

function IsDecimalId(property: string): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value) && BigInt(value) <= MAX_ID;
  const message = `${property} must be a decimal string from "1" to "${MAX_ID}"`;
  return ValidateBy({ name: 'isDecimalId', validator: { validate, defaultMessage: () => message } });
}

function IsDescription(): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && fitsDescription(value) && /^[^\p{Cc}\p{Cs}]*$/u.test(value);
  const message = `description must be text of at most ${MAX_DESCRIPTION} characters, none of them a control character`;
  return ValidateBy({ name: 'isDescription', validator: { validate, defaultMessage: () => message } });
}

/** Its numbers are looked at where the tag is stored. */
function IsInterleave(): PropertyDecorator {
  const validate = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const entries = Object.entries(value);
    return entries.every(([name, number]) => INTERLEAVE.includes(name) && Number.isInteger(number));
  };
  const message = 'interleave must be an object of the whole numbers of, remainder and block';
  return ValidateBy({ name: 'isInterleave', validator: { validate, defaultMessage: () => message } });
}

/** IDs were given by it. */
function CannotChange(property: string): PropertyDecorator {
  const message = `${property} cannot change after the creation of a tag; create another one`;
  return ValidateBy({ name: 'cannotChange', validator: { validate: () => false, defaultMessage: () => message } });
}

/** `PATCH /api/tags/:tag`. */
export class TagChangeBody {
  @MayBeLeftOut()
  @IsInt(STEP)
  @Min(1, STEP)
  @Max(MAX_STEP, STEP)
  readonly step?: number;

  @MayBeTakenAway()
  @IsInt(MAX_STEP_RULE)
  @Min(1, MAX_STEP_RULE)
  @Max(MAX_STEP, MAX_STEP_RULE)
  readonly maxStep?: number | null;

  @MayBeTakenAway()
  @IsDecimalId('max')
  readonly max?: string | null;

  @MayBeLeftOut()
  @IsDecimalId('maxId')
  readonly maxId?: string;

  @MayBeLeftOut()
  @IsDescription()
  readonly description?: string;

  @MayBeLeftOut()
  @CannotChange('order')
  readonly order?: never;

  @MayBeLeftOut()
  @CannotChange('reset')
  readonly reset?: never;

  @MayBeLeftOut()
  @CannotChange('zone')
  readonly zone?: never;

  @MayBeLeftOut()
  @CannotChange('interleave')
  readonly interleave?: never;
}

/** `POST /api/tags`. */
export class NewTagBody {
  @IsString({ message: 'tag must be text' })
  readonly tag!: string;

  @IsInt(STEP)
  @Min(1, STEP)
  @Max(MAX_STEP, STEP)
  readonly step!: number;

  @MayBeLeftOut()
  @IsInt(MAX_STEP_RULE)
  @Min(1, MAX_STEP_RULE)
  @Max(MAX_STEP, MAX_STEP_RULE)
  readonly maxStep?: number;

  @MayBeLeftOut()
  @IsDecimalId('max')
  readonly max?: string;

  @MayBeLeftOut()
  @IsDecimalId('maxId')
  readonly maxId?: string;

  @MayBeLeftOut()
  @IsDescription()
  readonly description?: string;

  @MayBeLeftOut()
  @IsIn(ORDERS, { message: `order must be one of ${ORDERS.join(', ')}` })
  readonly order?: TagOrder;

  @MayBeLeftOut()
  @IsIn(RESETS, { message: `reset must be one of ${RESETS.join(', ')}` })
  readonly reset?: TagReset;

  @MayBeLeftOut()
  @Matches(ZONE_PATTERN, { message: 'zone must be an IANA time zone, as Europe/Berlin' })
  readonly zone?: string;

  @MayBeLeftOut()
  @IsInterleave()
  readonly interleave?: Interleave;
}
