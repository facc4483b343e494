import { applyDecorators } from '@nestjs/common';
import type { HeadersObject, SchemaObject } from '@nestjs/swagger';
import { MAX_ID } from '@leaf-ids/core';
import { NO_NONCE, NONCE_HEADER, NONCE_PARAMETER, NONCE_PATTERN, TAG_PATTERN, TAG_RULE } from '@leaf-ids/core/internal';
import { FIRST_TAG } from '@leaf-ids/persistence';
import { ApiQuery } from './decorators';

const TAG_TEXT = `${TAG_RULE}.`;

/** A tag that exists on a new server. */
export const TAG = { type: 'string', pattern: TAG_PATTERN.source, description: TAG_TEXT, example: FIRST_TAG } as const;
/** A tag to create, change or delete. */
export const ANY_TAG = { ...TAG, example: 'order' } as const;
/** A key of snowflake IDs. */
export const KEY = { ...ANY_TAG, description: `A label without effect on the ID. ${TAG_TEXT}` } as const;

/** A 63-bit decimal number as a string, because it exceeds the safe integers of JSON parsers. */
export const ID = {
  type: 'string',
  format: 'int64',
  pattern: '^[0-9]{1,19}$',
  description: `A decimal number from 0 to ${MAX_ID}.`,
  example: '1169786042799259000',
} as const;

export const MOMENT = { type: 'string', format: 'date-time', example: '2026-11-21T12:00:00.000Z' } as const;

/** Content that is not JSON. */
export function contentOf(type: string, description: string, example?: string): { content: ContentOf } {
  return {
    content: { [type]: { schema: { type: 'string', description, ...(example === undefined ? {} : { example }) } } },
  };
}
type ContentOf = Record<string, { readonly schema: SchemaObject }>;

export const HTML = contentOf('text/html', 'HTML.', '<!doctype html>…');

const JSON_ID = {
  ...ID,
  description: 'A string; a number if the server has LEAF_JSON_IDS=number.',
} as const;

/** A single ID: plain text, or JSON for a client whose `Accept` names it first. */
export const ID_TEXT = {
  description: 'The ID.',
  content: { 'text/plain': { schema: ID }, 'application/json': { schema: JSON_ID } },
};

/** The query parameters of routes that return several IDs. */
export function ApiSizeAndNonce(maximum: number): MethodDecorator {
  return applyDecorators(
    ApiQuery({
      name: 'size',
      required: false,
      description: 'Number of IDs, without a sign or leading zeros.',
      schema: { type: 'integer', minimum: 1, maximum, default: 1, example: 2 },
    }),
    ApiQuery({
      name: NONCE_PARAMETER,
      required: false,
      description: 'A different value for each request; the response header `leaf-nonce` repeats it.',
      schema: { type: 'string', pattern: NONCE_PATTERN.source, default: NO_NONCE, example: 'b9f04c1d' },
    }),
  );
}

/** The header of every response with several IDs. */
export const NONCE_ECHO: HeadersObject = {
  [NONCE_HEADER]: {
    description:
      'The `nonce` of the request. If it differs, the response belongs to another request: do not use its IDs.',
    required: true,
    schema: { type: 'string', pattern: NONCE_PATTERN.source },
  },
};

/** The header of every 503. */
export const RETRY_AFTER_HEADER: HeadersObject = {
  'Retry-After': {
    description: 'Number of seconds to wait before a retry.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
};
