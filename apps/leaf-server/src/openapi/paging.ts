import { applyDecorators } from '@nestjs/common';
import type { HeadersObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { MAX_TAGS_PER_PAGE } from '@leaf-ids/core/internal';
import { ApiQuery } from './decorators';

/** Maximum length of a name in a database, in code points. */
const MAX_NAME = 128;

/** The page of a list that a request asks for. */
export interface PageRequest {
  readonly after: string | undefined;
  readonly limit: number;
}

/** The query of a route that lists tags. */
export function ApiPage(): MethodDecorator {
  return applyDecorators(
    ApiQuery({
      name: 'after',
      required: false,
      description: 'Only tags after this one, in the order of the list.',
      schema: { type: 'string', maxLength: MAX_NAME, pattern: '^[^\\u0000]*$', example: '0' },
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      description: 'Maximum number of tags in the response.',
      schema: { type: 'integer', minimum: 1, maximum: MAX_TAGS_PER_PAGE, default: MAX_TAGS_PER_PAGE, example: 100 },
    }),
  );
}

export const NEXT_PAGE: HeadersObject = {
  Link: {
    description: 'With `rel="next"` the address of the next page, relative to this one; absent on the last page.',
    required: false,
    schema: { type: 'string', example: '<?after=order&limit=1000>; rel="next"' },
  },
};

/** @throws LeafError `LEAF_REQUEST_INVALID` */
export function pageRequest(after: unknown, limit: unknown): PageRequest {
  const isName =
    typeof after === 'string' && Array.from(after).length <= MAX_NAME && !after.includes('\0') && isWellFormed(after);
  if (after !== undefined && !isName) throw invalid(`after must be one name of at most ${MAX_NAME} characters`);
  if (limit === undefined) return { after, limit: MAX_TAGS_PER_PAGE };
  const count = typeof limit === 'string' && /^[1-9]\d{0,3}$/.test(limit) ? Number(limit) : Infinity;
  if (count <= MAX_TAGS_PER_PAGE) return { after, limit: count };
  throw invalid(`limit must be one whole number from 1 to ${MAX_TAGS_PER_PAGE}`);
}

/** The query of the page after `last`. */
export function nextQuery(last: string, limit: number): string {
  return `?after=${encodeURIComponent(last)}&limit=${limit}`;
}

/** @param last the last tag of this page, when there is another page */
export function linkNext(reply: FastifyReply, last: string | undefined, limit: number): void {
  if (last !== undefined) void reply.header('link', `<${nextQuery(last, limit)}>; rel="next"`);
}

/** Cuts a list that was read with one entry more than the page has. */
export function cutPage<Item>(
  items: readonly Item[],
  limit: number,
): { page: readonly Item[]; last: Item | undefined } {
  const page = items.slice(0, limit);
  return { page, last: items.length > limit ? page.at(-1) : undefined };
}

function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

function invalid(rule: string): LeafError {
  return new LeafError('LEAF_REQUEST_INVALID', `The query is invalid: ${rule}.`);
}
