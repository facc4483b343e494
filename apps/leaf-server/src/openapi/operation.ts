import type { LeafErrorCode } from '@leaf/core';
import type { Components } from './components';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  HTTP_PROBLEMS,
  PATH_PROBLEMS,
  PROBLEM_MEDIA_TYPE,
  problemResponses,
} from './problem-responses';
import type { AnswerDescription, RouteDescription } from './route-description';
import type { Schema } from './schema';

export const BEARER = 'bearer';

export interface Header {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Parameter extends Header {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
}

/** An operation of OpenAPI 3.0. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: true;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** How a route is reached. */
export interface Access {
  readonly method: string;
  /** It needs a token. */
  readonly admin: boolean;
}

/** A described route as OpenAPI says it, with what all routes of its kind have in common. */
export function operationOf(description: RouteDescription, access: Access, components: Components): Operation {
  const { id, group, summary, detail, path = {}, query = {}, optional = [], body } = description;
  const parameters = [
    ...Object.entries(path).map(([name, schema]) => parameter(name, 'path', schema, true)),
    ...Object.entries(query).map(([name, schema]) =>
      parameter(name, 'query', schema, schema.default === undefined && !optional.includes(name)),
    ),
  ];
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(detail === undefined ? {} : { description: detail }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: components.refer(body) } } } }),
    responses: responsesOf(description, access, components),
    ...(access.admin ? { security: [{ [BEARER]: [] }] } : {}),
  };
}

/** Codes that a route answers by its kind, without naming them. */
export function commonProblems({ path = {} }: RouteDescription, { method, admin }: Access): LeafErrorCode[] {
  return [
    ...HTTP_PROBLEMS,
    ...(Object.keys(path).length === 0 ? [] : PATH_PROBLEMS),
    ...(method === 'get' ? [] : BODY_PROBLEMS),
    ...(admin ? ADMIN_PROBLEMS : []),
  ];
}

function parameter(name: string, where: Parameter['in'], schema: Schema, required: boolean): Parameter {
  const { description, ...rules } = schema;
  return { name, in: where, required, ...(description === undefined ? {} : { description }), schema: rules };
}

function responsesOf(route: RouteDescription, access: Access, components: Components): Operation['responses'] {
  const responses: Record<string, Response> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    responses[status] = responseOf(answer, components);
  }
  const codes = [...(route.problems ?? []), ...commonProblems(route, access)];
  for (const [status, { description, headers, content }] of problemResponses(codes)) {
    // The schema is referred to here, and not where the problem is described: the document owns its components.
    const schema = components.refer(content[PROBLEM_MEDIA_TYPE].schema);
    responses[status] = {
      description,
      ...(headers === undefined ? {} : { headers: headersOf(headers) }),
      content: { ...responses[status]?.content, [PROBLEM_MEDIA_TYPE]: { schema } },
    };
  }
  return responses;
}

function responseOf({ description, type, schema, headers }: AnswerDescription, components: Components): Response {
  return {
    description,
    ...(headers === undefined ? {} : { headers: headersOf(headers) }),
    ...(type === undefined || schema === undefined
      ? {}
      : { content: { [type]: { schema: components.refer(schema) } } }),
  };
}

function headersOf(headers: Readonly<Record<string, Schema>>): Record<string, Header> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description = '', ...schema }]) => [
      name,
      { description, required: true, schema },
    ]),
  );
}
