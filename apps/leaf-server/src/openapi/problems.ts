import type { OpenAPIObject, OperationObject, ResponseObject, SchemaObject } from '@nestjs/swagger';
import { ERROR_CATALOGUE, type LeafErrorCode } from '@leaf-ids/core';
import { type Problem, unknownTag } from '@leaf-ids/core/internal';
import { REQUEST_ID_PATTERN } from '../http/responses/request-id';
import { ApiExtension, ApiProperty, ApiSchema } from './decorators';
import { RETRY_AFTER_HEADER } from './schemas';

/** HTTP errors that any route can return. */
const HTTP_PROBLEMS = [
  'LEAF_REQUEST_INVALID',
  'LEAF_REQUEST_TIMEOUT',
  'LEAF_HEADERS_TOO_LARGE',
  'LEAF_INTERNAL',
] as const;
/** Errors of routes with a path parameter. */
const PATH_PROBLEMS = ['LEAF_URL_TOO_LONG'] as const;
/** Errors of methods other than GET: the body is read ahead of the handler. */
const BODY_PROBLEMS = ['LEAF_BODY_INVALID', 'LEAF_BODY_TOO_LARGE', 'LEAF_MEDIA_TYPE_UNSUPPORTED'] as const;
/** Errors of routes that require a token. */
const ADMIN_PROBLEMS = ['LEAF_UNAUTHORIZED', 'LEAF_TOO_MANY_FAILURES'] as const;

/** Errors of routes that issue IDs, beside those of a missing token. */
const CLIENT_PROBLEMS = ['LEAF_FORBIDDEN', 'LEAF_QUOTA_EXCEEDED'] as const;

/** Errors of requests for segment IDs. */
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

/** Errors of requests for snowflake IDs. */
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

/** Errors when reading or writing the row of a tag. */
export const TAG_ROW_PROBLEMS = ['LEAF_SEGMENT_DISABLED', 'LEAF_STORE_UNAVAILABLE'] as const;

/** An error code, with its status where that is another one than usual. */
type DescribedProblem = LeafErrorCode | readonly [number, LeafErrorCode];

/** The error codes of a route, in addition to those common to all routes of its kind. */
export function ApiProblems(...codes: readonly DescribedProblem[]): MethodDecorator {
  return ApiExtension('x-problems', codes) as MethodDecorator;
}

const REQUEST_ID_RULE =
  'The request in the log: the trace ID of `traceparent`, else `x-request-id` of the request, else a UUID.';

/** The route issues IDs. */
export function ApiTakesIds(): MethodDecorator {
  return ApiExtension('x-takes-ids', true) as MethodDecorator;
}

@ApiSchema({ name: 'Problem' })
export class ProblemDocument implements Problem {
  @ApiProperty({ enum: ['about:blank'] })
  readonly type!: 'about:blank';

  @ApiProperty({ description: 'The kind of error; the same for every occurrence.', example: 'Unknown tag' })
  readonly title!: string;

  @ApiProperty({ type: 'integer', description: 'The HTTP status.', example: 404 })
  readonly status!: number;

  @ApiProperty({
    type: 'string',
    description: 'Stable error code for programs; see docs/errors.md.',
    example: 'LEAF_TAG_NOT_FOUND',
  })
  readonly code!: LeafErrorCode;

  @ApiProperty({ description: 'What happened, and what to do.', example: unknownTag('order').message })
  readonly detail!: string;

  @ApiProperty({
    required: false,
    pattern: REQUEST_ID_PATTERN.source,
    description: `${REQUEST_ID_RULE} Left out where the request is refused before its headers are read.`,
    example: '4bf92f3577b34da6a3ce929d0e0e4736',
  })
  readonly requestId?: string;
}

/**
 * Replaces the marks of {@link ApiProblems} by responses: one for each status, with its codes and titles.
 *
 * @param clientTokens whether taking IDs requires a token
 */
export function describeProblems({ paths }: OpenAPIObject, clientTokens: boolean): void {
  for (const item of Object.values(paths)) {
    for (const [method, operation] of Object.entries(item) as [string, OperationObject & Marked][]) {
      const { 'x-problems': own = [], 'x-takes-ids': takesIds = false } = operation;
      const needsToken = takesIds && clientTokens;
      if (needsToken) operation.security = [{ bearer: [] }, { basic: [] }];
      const common = commonProblems(method, operation);
      const codes = [...new Set([...own, ...common, ...(needsToken ? CLIENT_PROBLEMS : [])])];
      delete operation['x-problems'];
      delete operation['x-takes-ids'];
      if (operation.parameters?.length === 0) delete operation.parameters;
      const problems = codes.map((code) =>
        typeof code === 'string' ? ([ERROR_CATALOGUE[code].status, code] as const) : code,
      );
      for (const status of new Set(problems.map(([each]) => each))) {
        const ofStatus = problems.filter(([each]) => each === status).map(([, code]) => code);
        operation.responses[status] = problemResponse(status, ofStatus);
      }
    }
  }
}

interface Marked {
  'x-problems'?: readonly DescribedProblem[];
  'x-takes-ids'?: true;
}

function commonProblems(method: string, { parameters = [], security }: OperationObject): LeafErrorCode[] {
  return [
    ...HTTP_PROBLEMS,
    ...(parameters.some((parameter) => 'in' in parameter && parameter.in === 'path') ? PATH_PROBLEMS : []),
    ...(method === 'get' ? [] : BODY_PROBLEMS),
    ...(security === undefined ? [] : ADMIN_PROBLEMS),
  ];
}

function problemResponse(status: number, codes: readonly LeafErrorCode[]): ResponseObject {
  const titles = [...new Set(codes.map((code) => ERROR_CATALOGUE[code].title))];
  const properties = { title: { enum: titles }, status: { enum: [status] }, code: { enum: [...codes] } };
  const schema: SchemaObject = { allOf: [{ $ref: '#/components/schemas/Problem' }, { properties }] };
  return {
    description: `${titles.join('; ')}.`,
    content: { 'application/problem+json': { schema } },
    headers: {
      ...REQUEST_ID,
      ...(status === 503 || status === 429 ? RETRY_AFTER_HEADER : {}),
      ...(status === 401 ? CHALLENGE_HEADER : {}),
    },
  };
}

const REQUEST_ID = {
  'X-Request-Id': {
    description: 'The `requestId` of the problem.',
    schema: { type: 'string', pattern: REQUEST_ID_PATTERN.source },
  },
} as const;

const CHALLENGE_HEADER = {
  'WWW-Authenticate': {
    description: 'The challenge for a bearer token.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer ' },
  },
};
