import { IsInt, IsString, Max, Min, ValidateBy, ValidateIf } from 'class-validator';
import { fitsDescription, MAX_DESCRIPTION, MAX_ID, MAX_STEP } from '@leaf/core';
import { object, type Schema } from '../openapi/schema';
import { ANY_TAG } from '../openapi/shared-schemas';

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

const CHANGEABLE: Readonly<Record<keyof TagChangeBody, Schema>> = {
  step: { type: 'integer', minimum: 1, maximum: MAX_STEP, description: 'IDs of a segment, at least.', example: 1000 },
  maxId: {
    type: 'string',
    format: 'int64',
    pattern: '^[1-9][0-9]{0,18}$',
    description: `The first ID to be given, at most ${MAX_ID}; it can only rise.`,
    example: '1',
  },
  description: {
    type: 'string',
    maxLength: MAX_DESCRIPTION,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description: 'What the tag is for, without control characters.',
    example: 'order numbers',
  },
};

/** {@link TagChangeBody} for the document. */
export const TAG_CHANGE: Schema = {
  ...object<TagChangeBody>('TagChange', CHANGEABLE, ['step', 'maxId', 'description']),
  minProperties: 1,
  additionalProperties: false,
};

/** {@link NewTagBody} for the document. */
export const NEW_TAG: Schema = {
  ...object<NewTagBody>('NewTag', { tag: ANY_TAG, ...CHANGEABLE }, ['maxId', 'description']),
  additionalProperties: false,
};
