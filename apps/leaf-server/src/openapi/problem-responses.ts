import { ERROR_CATALOGUE, type LeafErrorCode } from '@leaf/core';
import type { Problem } from '../http/responses/problem';
import { object, type Schema, text, wholeNumber } from './schema';
import { RETRY_AFTER } from './shared-schemas';

/** Faults of HTTP itself: any route may answer them. */
export const HTTP_PROBLEMS = [
  'LEAF_REQUEST_INVALID',
  'LEAF_REQUEST_TIMEOUT',
  'LEAF_HEADERS_TOO_LARGE',
  'LEAF_INTERNAL',
] as const satisfies readonly LeafErrorCode[];
/** A part of the path is a parameter. */
export const PATH_PROBLEMS = ['LEAF_URL_TOO_LONG'] as const satisfies readonly LeafErrorCode[];
/** A verb other than GET: what is sent along is read before anything else. */
export const BODY_PROBLEMS = [
  'LEAF_BODY_INVALID',
  'LEAF_BODY_TOO_LARGE',
  'LEAF_MEDIA_TYPE_UNSUPPORTED',
] as const satisfies readonly LeafErrorCode[];
/** A route that needs a token. */
export const ADMIN_PROBLEMS = [
  'LEAF_UNAUTHORIZED',
  'LEAF_TOO_MANY_FAILURES',
] as const satisfies readonly LeafErrorCode[];

/** Why a segment ID may be refused. */
export const SEGMENT_PROBLEMS = [
  'LEAF_TAG_INVALID',
  'LEAF_TAG_NOT_FOUND',
  'LEAF_SEGMENT_DISABLED',
  'LEAF_NOT_READY',
  'LEAF_SEGMENT_UNAVAILABLE',
  'LEAF_STORE_UNAVAILABLE',
  'LEAF_STORE_BACKWARDS',
  'LEAF_TAG_PAUSED',
  'LEAF_TAG_EXHAUSTED',
  'LEAF_TAG_ROW_INVALID',
] as const satisfies readonly LeafErrorCode[];

/** Why a snowflake ID may be refused. */
export const SNOWFLAKE_PROBLEMS = [
  'LEAF_TAG_INVALID',
  'LEAF_SNOWFLAKE_DISABLED',
  'LEAF_NOT_READY',
  'LEAF_OVERLOADED',
  'LEAF_CLOCK_BACKWARDS',
  'LEAF_LEASE_EXPIRED',
  'LEAF_LEASE_LOST',
  'LEAF_EPOCH_EXHAUSTED',
] as const satisfies readonly LeafErrorCode[];

/** Why the row of a tag may be out of reach. */
export const TAG_ROW_PROBLEMS = [
  'LEAF_SEGMENT_DISABLED',
  'LEAF_STORE_UNAVAILABLE',
] as const satisfies readonly LeafErrorCode[];

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

const PROBLEM = object<Problem>('Problem', {
  type: { type: 'string', enum: ['about:blank'] },
  title: text('The kind of fault, the same for every occurrence.', 'Unknown tag'),
  status: wholeNumber('The HTTP status.', 404),
  code: text('What programs look at; docs/errors.md explains each.', 'LEAF_TAG_NOT_FOUND'),
  detail: text('What happened, and what to do.', 'There is no tag "order". Create it first.'),
});

const CHALLENGE: Schema = {
  type: 'string',
  pattern: '^Bearer ',
  description: 'The challenge for a bearer token.',
};

export interface ProblemResponse {
  readonly description: string;
  readonly content: Readonly<Record<typeof PROBLEM_MEDIA_TYPE, { readonly schema: Schema }>>;
  readonly headers?: Readonly<Record<string, Schema>>;
}

/** The problem documents of `codes`, by status; status and title are those of the catalogue. */
export function problemResponses(codes: readonly LeafErrorCode[]): Map<number, ProblemResponse> {
  const byStatus = new Map<number, LeafErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].map(([status, ofStatus]) => [status, problemResponse(status, ofStatus)]));
}

function problemResponse(status: number, codes: readonly LeafErrorCode[]): ProblemResponse {
  const titles = [...new Set(codes.map((code) => ERROR_CATALOGUE[code].title))];
  const schema: Schema = {
    allOf: [PROBLEM, { properties: { title: { enum: titles }, status: { enum: [status] }, code: { enum: codes } } }],
  };
  const again = status === 503 || status === 429;
  return {
    description: `${titles.join('; ')}.`,
    content: { [PROBLEM_MEDIA_TYPE]: { schema } },
    ...(again ? { headers: { 'Retry-After': RETRY_AFTER } } : {}),
    ...(status === 401 ? { headers: { 'WWW-Authenticate': CHALLENGE } } : {}),
  };
}
