import { IsInt, IsString, Matches, Max, MaxLength, Min, ValidateBy, ValidateIf } from 'class-validator';
import { MAX_DESCRIPTION, MAX_ID, MAX_STEP } from '@leaf/core';

const STEP = { message: `step must be a whole number from 1 to ${MAX_STEP}` };
const DESCRIPTION = {
  message: `description must be text of at most ${MAX_DESCRIPTION} characters, none of them a control character`,
};

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
  @MaxLength(MAX_DESCRIPTION, DESCRIPTION)
  @Matches(/^[^\p{Cc}\p{Cs}]*$/u, DESCRIPTION)
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
  @MaxLength(MAX_DESCRIPTION, DESCRIPTION)
  @Matches(/^[^\p{Cc}\p{Cs}]*$/u, DESCRIPTION)
  readonly description?: string;
}
