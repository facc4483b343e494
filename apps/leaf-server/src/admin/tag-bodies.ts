import { IsInt, IsString, Max, Min, ValidateBy, ValidateIf } from 'class-validator';
import { fitsDescription, MAX_DESCRIPTION, MAX_ID, MAX_STEP } from '@leaf/core';

const STEP = { message: `step must be a whole number from 1 to ${MAX_STEP}` };

/** Left out is allowed; null is not. */
function MayBeLeftOut(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}

function IsMaxId(): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value) && BigInt(value) <= MAX_ID;
  const message = `maxId must be a decimal string from "1" to "${MAX_ID}"`;
  return ValidateBy({ name: 'isMaxId', validator: { validate, defaultMessage: () => message } });
}

function IsDescription(): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && fitsDescription(value) && /^[^\p{Cc}\p{Cs}]*$/u.test(value);
  const message = `description must be text of at most ${MAX_DESCRIPTION} characters, none of them a control character`;
  return ValidateBy({ name: 'isDescription', validator: { validate, defaultMessage: () => message } });
}

/** `PATCH /api/tags/:tag`. */
export class TagChangeBody {
  @MayBeLeftOut()
  @IsInt(STEP)
  @Min(1, STEP)
  @Max(MAX_STEP, STEP)
  readonly step?: number;

  @MayBeLeftOut()
  @IsMaxId()
  readonly maxId?: string;

  @MayBeLeftOut()
  @IsDescription()
  readonly description?: string;
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
  @IsMaxId()
  readonly maxId?: string;

  @MayBeLeftOut()
  @IsDescription()
  readonly description?: string;
}
