import fc from 'fast-check';
import type { Parameter } from '../../../apps/leaf-server/src/openapi/operation';
import type { Schema } from '../../../apps/leaf-server/src/openapi/schema';
import type { ApiContract } from './contract';
import { hostileJson, hostileText, valueOf } from './values';

/** A request of a fuzz, before it is written down as HTTP. */
export interface FuzzedRequest {
  readonly operationId: string;
  readonly method: string;
  /** By parameter; a list is sent as a repeated parameter. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  /** A malformed percent-encoding behind the path. */
  readonly malformed: boolean;
  readonly body?: { readonly text: string; readonly type: string };
  readonly token: 'valid' | 'wrong' | 'none';
}

const OTHER_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const JSON_TYPES = ['application/json', 'application/json; charset=utf-8'];
const OTHER_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'garbage',
  '/;',
];

/** Requests to every route of the document: as it says, nearly so, and not at all. */
export function fuzzedRequest(contract: ApiContract): fc.Arbitrary<FuzzedRequest> {
  const known = examplesOf(contract);
  const routes = contract.routes.map((route) => ({
    // Those without parameters have little to be asked.
    weight: route.operation.parameters === undefined && route.operation.requestBody === undefined ? 1 : 4,
    arbitrary: fc.constant(route),
  }));
  return fc.oneof(...routes).chain((route) => {
    const { parameters = [], requestBody } = route.operation;
    const schema = requestBody?.content['application/json']?.schema;
    return fc.record({
      operationId: fc.constant(route.operation.operationId),
      method: fc.oneof(
        { weight: 8, arbitrary: fc.constant(route.method) },
        { weight: 1, arbitrary: fc.constantFrom(...OTHER_METHODS) },
      ),
      parameters: fc.record(
        Object.fromEntries(parameters.map((each) => [each.name, parameterValue(each, known.get(each.name) ?? [])])),
        { requiredKeys: parameters.filter(({ in: where }) => where === 'path').map(({ name }) => name) },
      ),
      malformed: fc.oneof({ weight: 40, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      ...(schema === undefined ? {} : { body: bodyOf(contract.whole(schema)) }),
      ...(schema === undefined && route.method !== 'GET'
        ? { body: fc.option(anyBody(), { freq: 6, nil: undefined }) }
        : {}),
      token: fc.oneof(
        { weight: 8, arbitrary: fc.constant('valid' as const) },
        { weight: 1, arbitrary: fc.constantFrom('wrong' as const, 'none' as const) },
      ),
    }) as fc.Arbitrary<FuzzedRequest>;
  });
}

/** The examples of all parameters of one name: what one route makes, another finds. */
function examplesOf({ routes }: ApiContract): Map<string, string[]> {
  const examples = new Map<string, string[]>();
  for (const { name, schema } of routes.flatMap(({ operation }) => operation.parameters ?? [])) {
    examples.set(name, [...new Set([...(examples.get(name) ?? []), String(schema.example)])]);
  }
  return examples;
}

function parameterValue(
  { in: where, schema }: Parameter,
  examples: readonly string[],
): fc.Arbitrary<string | string[]> {
  const one = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...examples) },
    { weight: 3, arbitrary: valueOf(schema).map(String) },
    { weight: 2, arbitrary: hostileText() },
  );
  if (where === 'path') return one;
  return fc.oneof(
    { weight: 12, arbitrary: one },
    { weight: 1, arbitrary: fc.array(one, { minLength: 2, maxLength: 3 }) },
  );
}

function bodyOf(schema: Schema): fc.Arbitrary<FuzzedRequest['body']> {
  const valid = valueOf(schema) as fc.Arbitrary<Record<string, unknown>>;
  const altered = fc
    .tuple(valid, fc.oneof(fc.constantFrom(...Object.keys(schema.properties ?? {})), hostileText()), hostileJson())
    .map(([body, name, value]) => JSON.stringify({ ...body, [name]: value }));
  const lacking = fc
    .tuple(valid, fc.constantFrom(...Object.keys(schema.properties ?? {})))
    .map(([body, name]) => JSON.stringify({ ...body, [name]: undefined }));
  const text = fc.oneof(
    { weight: 5, arbitrary: valid.map((body) => JSON.stringify(body)) },
    { weight: 3, arbitrary: altered },
    { weight: 1, arbitrary: lacking },
  );
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ text, type: fc.constantFrom(...JSON_TYPES) }) },
    { weight: 1, arbitrary: anyBody() },
  );
}

function anyBody(): fc.Arbitrary<{ readonly text: string; readonly type: string }> {
  return fc.record({
    text: fc.oneof(
      hostileJson().map((value) => JSON.stringify(value)),
      hostileText(),
      fc.constantFrom('{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}'),
      fc.integer({ min: 1, max: 30_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
      fc.constant(JSON.stringify('x'.repeat(66_000))),
    ),
    type: fc.constantFrom(...JSON_TYPES, ...OTHER_TYPES),
  });
}
