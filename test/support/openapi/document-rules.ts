import { Ajv } from 'ajv';
import type { ApiDescription } from './document';

const text = { type: 'string' };
const closed = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const mapOf = (values: object, names = '.'): object => ({
  type: 'object',
  patternProperties: { [names]: values },
  additionalProperties: false,
});
const listOf = (items: object): object => ({ type: 'array', items, minItems: 1 });
const schema = { $ref: '#/$defs/schema' };

/** What OpenAPI 3.0 says of the keywords of a schema that are used here. */
const SCHEMA = closed({
  $ref: { type: 'string', pattern: '^#/components/schemas/\\w+$' },
  type: { enum: ['string', 'integer', 'number', 'boolean', 'object', 'array'] },
  description: text,
  example: {},
  default: {},
  enum: { type: 'array', minItems: 1 },
  nullable: { type: 'boolean' },
  pattern: { type: 'string', format: 'regex' },
  format: { enum: ['date-time', 'int64'] },
  minLength: { type: 'integer', minimum: 0 },
  maxLength: { type: 'integer', minimum: 0 },
  minimum: { type: 'number' },
  maximum: { type: 'number' },
  items: schema,
  minItems: { type: 'integer', minimum: 0 },
  maxItems: { type: 'integer', minimum: 0 },
  uniqueItems: { type: 'boolean' },
  properties: mapOf(schema),
  required: listOf(text),
  minProperties: { type: 'integer', minimum: 0 },
  additionalProperties: { anyOf: [{ type: 'boolean' }, schema] },
  allOf: listOf(schema),
});

const HEADER = { description: text, required: { type: 'boolean' }, schema };
const CONTENT = mapOf(closed({ schema }, ['schema']), '^([a-z]+/[a-z.+-]+|[*]/[*])$');
const OPERATION = closed(
  {
    operationId: { type: 'string', pattern: '^[a-z][A-Za-z]+$' },
    tags: listOf(text),
    summary: text,
    description: text,
    parameters: listOf(
      closed({ ...HEADER, name: text, in: { enum: ['path', 'query'] } }, ['name', 'in', 'required', 'schema']),
    ),
    requestBody: closed({ required: { type: 'boolean' }, content: CONTENT }, ['content']),
    responses: mapOf(
      closed(
        { description: { type: 'string', minLength: 1 }, headers: mapOf(closed(HEADER, ['schema'])), content: CONTENT },
        ['description'],
      ),
      '^[1-5][0-9][0-9]$',
    ),
    security: listOf(mapOf({ type: 'array', maxItems: 0 })),
  },
  ['operationId', 'tags', 'summary', 'responses'],
);

const DOCUMENT = {
  ...closed(
    {
      openapi: { type: 'string', pattern: '^3\\.0\\.\\d$' },
      info: { type: 'object', required: ['title', 'version'] },
      servers: listOf(closed({ url: text, description: text }, ['url'])),
      tags: listOf(closed({ name: text, description: text }, ['name'])),
      paths: mapOf(mapOf(OPERATION, '^(get|put|post|delete|options|head|patch|trace)$'), '^/'),
      components: closed({
        schemas: mapOf(schema, '^[A-Za-z0-9._-]+$'),
        securitySchemes: mapOf(
          closed({ type: { enum: ['http'] }, scheme: text, description: text }, ['type', 'scheme']),
        ),
      }),
    },
    ['openapi', 'info', 'paths'],
  ),
  $defs: { schema: SCHEMA },
};

/** Where a document breaks OpenAPI 3.0; what this server does not use counts as a fault too. */
export function faultsOfDocument(document: ApiDescription): string[] {
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { regex: isPattern } });
  const validate = ajv.compile(DOCUMENT);
  const shape = validate(document)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return shape.length > 0 ? shape : [...nameFaults(document), ...referenceFaults(document)];
}

function nameFaults({ paths, tags, components }: ApiDescription): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const [path, item] of Object.entries(paths)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string).sort();
    for (const [method, { operationId, parameters = [], tags: groups, security = [], requestBody }] of Object.entries(
      item,
    )) {
      if (ids.has(operationId)) faults.push(`${operationId} is the ID of two operations`);
      ids.add(operationId);
      const declared = parameters.filter(({ in: where }) => where === 'path');
      if (declared.some(({ required }) => !required))
        faults.push(`${operationId}: a parameter of the path is optional`);
      if (String(declared.map(({ name }) => name).sort()) !== String(inPath)) {
        faults.push(`${operationId}: the path ${path} and its parameters differ`);
      }
      if (method === 'get' && requestBody !== undefined) faults.push(`${operationId}: a GET has a body`);
      for (const group of groups) if (!tags.some(({ name }) => name === group)) faults.push(`${group} is no tag`);
      for (const name of security.flatMap((each) => Object.keys(each))) {
        if (!(name in components.securitySchemes)) faults.push(`${name} is no security scheme`);
      }
    }
  }
  return faults;
}

/** Every reference leads to a schema, and every schema is referred to. */
function referenceFaults(document: ApiDescription): string[] {
  const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name as string,
  );
  const named = Object.keys(document.components.schemas);
  return [
    ...referred.filter((name) => !named.includes(name)).map((name) => `the schema ${name} is missing`),
    ...named.filter((name) => !referred.includes(name)).map((name) => `nothing refers to the schema ${name}`),
  ];
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u').unicode;
  } catch {
    return false;
  }
}
