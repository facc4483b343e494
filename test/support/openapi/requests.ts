import fc from 'fast-check';
import type { ApiContract, ApiRoute } from './contract';
import type { Parameter, Schema } from './document';
import { hostileJson, hostileNumber, hostileText, valueOf, variantsOf } from './values';

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
    weight: weightOf(route),
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
      malformed: seldom(fc.constant(true)).map((malformed) => malformed === true),
      ...(schema === undefined ? {} : { body: bodyOf(contract.whole(schema), known) }),
      ...(schema === undefined && route.method !== 'GET' ? { body: seldom(anyBody()) } : {}),
      token: fc.oneof(
        { weight: 8, arbitrary: fc.constant('valid' as const) },
        { weight: 1, arbitrary: fc.constantFrom('wrong' as const, 'none' as const) },
      ),
    }) as fc.Arbitrary<FuzzedRequest>;
  });
}

/** Those without parameters have little to be asked; and what is deleted at once is never used. */
function weightOf({ method, operation: { parameters, requestBody } }: ApiRoute): number {
  if (method === 'DELETE' || (parameters === undefined && requestBody === undefined)) return 1;
  return requestBody === undefined ? 4 : 8;
}

function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 15, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

/** The examples of all parameters of one name: what one route makes, another finds. */
export function examplesOf({ routes }: ApiContract): Map<string, string[]> {
  const examples = new Map<string, string[]>();
  for (const { name, schema } of routes.flatMap(({ operation }) => operation.parameters ?? [])) {
    examples.set(name, [...new Set([...(examples.get(name) ?? []), String(schema.example), ...variantsOf(schema)])]);
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
    { weight: 1, arbitrary: hostileText() },
    { weight: 1, arbitrary: schema.type === 'integer' ? hostileNumber(schema) : hostileText() },
  );
  if (where === 'path') return one;
  return fc.oneof(
    { weight: 12, arbitrary: one },
    { weight: 1, arbitrary: fc.array(one, { minLength: 2, maxLength: 3 }) },
  );
}

/** @param known values of parameters, for the properties that are called so: what a body makes, a path finds */
function bodyOf(schema: Schema, known: ReadonlyMap<string, string[]>): fc.Arbitrary<FuzzedRequest['body']> {
  const shared = [...known].filter(([name]) => schema.properties?.[name] !== undefined);
  const names = fc.record(Object.fromEntries(shared.map(([name, values]) => [name, fc.constantFrom(...values)])));
  const made = valueOf(schema) as fc.Arbitrary<Record<string, unknown>>;
  const valid = fc.oneof(
    made,
    fc.tuple(made, names).map(([body, known]) => ({ ...body, ...known })),
  );
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
