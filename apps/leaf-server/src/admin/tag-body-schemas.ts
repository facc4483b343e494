import { MAX_DESCRIPTION, MAX_ID, MAX_STEP } from '@leaf/core';
import { object, orNull, type Schema } from '../openapi/schema';
import { ANY_TAG } from '../openapi/shared-schemas';
import type { NewTagBody, TagChangeBody } from './tag-bodies';
import { KIND } from './tag-rows';

/** The body names it to say why it is refused. */
type Unchangeable = 'order' | 'reset' | 'zone' | 'interleave';
type Changeable = Omit<TagChangeBody, Unchangeable>;

const CHANGEABLE: Readonly<Record<keyof Changeable, Schema>> = {
  step: { type: 'integer', minimum: 1, maximum: MAX_STEP, description: 'IDs of a segment, at least.', example: 1000 },
  maxStep: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_STEP,
    description: 'IDs of a segment, at most; not less than `step`, and equal to it when the step shall be fixed.',
    example: 100_000,
  },
  max: {
    type: 'string',
    format: 'int64',
    pattern: '^[1-9][0-9]{0,18}$',
    description: `The last ID that may be given, at most ${MAX_ID - 1n}.`,
    example: '999999',
  },
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
  ...object<Changeable>(
    'TagChange',
    { ...CHANGEABLE, maxStep: orNull(CHANGEABLE.maxStep), max: orNull(CHANGEABLE.max) },
    ['step', 'maxStep', 'max', 'maxId', 'description'],
  ),
  minProperties: 1,
  additionalProperties: false,
};

/** `POST /api/tags`. */
export const NEW_TAG: Schema = {
  ...object<NewTagBody>('NewTag', { tag: ANY_TAG, ...CHANGEABLE, ...KIND }, [
    ...(['maxStep', 'max', 'maxId', 'description'] as const),
    ...(['order', 'reset', 'zone', 'interleave'] as const),
  ]),
  additionalProperties: false,
};
