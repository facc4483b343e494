import { MAX_DESCRIPTION, MAX_ID, MAX_STEP } from '@leaf/core';
import { object, type Schema } from '../openapi/schema';
import { ANY_TAG } from '../openapi/shared-schemas';
import type { NewTagBody, TagChangeBody } from './tag-bodies';

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

/** `PATCH /api/tags/:tag`. */
export const TAG_CHANGE: Schema = {
  ...object<TagChangeBody>('TagChange', CHANGEABLE, ['step', 'maxId', 'description']),
  minProperties: 1,
  additionalProperties: false,
};

/** `POST /api/tags`. */
export const NEW_TAG: Schema = {
  ...object<NewTagBody>('NewTag', { tag: ANY_TAG, ...CHANGEABLE }, ['maxId', 'description']),
  additionalProperties: false,
};
