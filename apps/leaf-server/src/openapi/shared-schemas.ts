import { MAX_ID, NO_NONCE, NONCE_HEADER, NONCE_PATTERN, TAG_PATTERN } from '@leaf/core';
import { FIRST_TAG } from '@leaf/persistence';
import type { Schema } from './schema';

const TAG_RULE = '1 to 128 letters, digits, `-`, `_`, `.` or `:`.';

/** A tag that there is on a new server. */
export const TAG: Schema = { type: 'string', pattern: TAG_PATTERN.source, description: TAG_RULE, example: FIRST_TAG };

/** A tag to be made, changed and deleted. */
export const ANY_TAG: Schema = { ...TAG, example: 'order' };

/** A key of snowflake IDs. */
export const KEY: Schema = { ...ANY_TAG, description: `A label only. ${TAG_RULE}` };

/** A decimal number of 63 bits as text: it does not fit into a JSON number. */
export const ID: Schema = {
  type: 'string',
  format: 'int64',
  pattern: '^[0-9]{1,19}$',
  description: `A decimal number from 0 to ${MAX_ID}.`,
  example: '1169786042799259000',
};

/** How many IDs are wanted. */
export function sizeUpTo(maximum: number): Schema {
  return {
    type: 'integer',
    minimum: 1,
    maximum,
    default: 1,
    example: 2,
    description: 'How many IDs, as a decimal number without sign and leading zeros.',
  };
}

/** What tells the request of a client from all others. */
export const NONCE: Schema = {
  type: 'string',
  pattern: NONCE_PATTERN.source,
  default: NO_NONCE,
  example: 'b9f04c1d',
  description: 'Another one in each request; the header `leaf-nonce` of the answer repeats it.',
};

/** The header of every answer with several IDs. */
export const NONCE_ECHO: Readonly<Record<string, Schema>> = {
  [NONCE_HEADER]: {
    type: 'string',
    pattern: NONCE_PATTERN.source,
    description:
      'The `nonce` of the request. With another one the answer was made for another request: do not use its IDs.',
  },
};

/** A moment as text. */
export const MOMENT: Schema = { type: 'string', format: 'date-time', example: '2026-11-21T12:00:00.000Z' };

/** The header of every 503. */
export const RETRY_AFTER: Schema = {
  type: 'integer',
  minimum: 1,
  description: 'Seconds after which the same request may succeed.',
};
