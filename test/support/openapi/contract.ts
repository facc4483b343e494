import { Ajv, type ValidateFunction } from 'ajv';
import { MAX_ID } from '@leaf-ids/core';
import { type Answer, json } from '../http/http';
import type { ApiDescription, Operation, Schema } from './document';

export interface ApiRoute {
  readonly path: string;
  /** In capitals. */
  readonly method: string;
  readonly operation: Operation;
}

export function fetchApi(port: number): Promise<ApiDescription> {
  return json<ApiDescription>(port, '/openapi.json');
}

/** Validates responses of the server against the OpenAPI document. */
export class ApiContract {
  readonly routes: readonly ApiRoute[];
  private readonly ajv = new Ajv({ strictTypes: false, allErrors: true });
  private readonly compiled = new Map<Schema, ValidateFunction>();

  constructor(private readonly document: ApiDescription) {
    this.ajv.addVocabulary(['example']);
    this.ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    this.ajv.addFormat('int64', { type: 'string', validate: (text) => /^\d+$/.test(text) && BigInt(text) <= MAX_ID });
    this.routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    );
  }

  route(operationId: string): ApiRoute {
    const route = this.routes.find(({ operation }) => operation.operationId === operationId);
    if (route === undefined) throw new Error(`The document has no operation ${operationId}.`);
    return route;
  }

  /** Describes how a response violates the document; undefined if it is valid. */
  faultOf({ operation }: ApiRoute, { status, headers, body }: Answer, head = false): string | undefined {
    const documented = operation.responses[status];
    if (documented === undefined) return `status ${status} is not documented: ${body.slice(0, 300)}`;
    for (const [name, { schema, required }] of Object.entries(documented.headers ?? {})) {
      const value = headers[name.toLowerCase()];
      // Only a header that the document calls optional may be absent.
      if (value === undefined && required === false) continue;
      const fault = this.mismatch(schema, schema.type === 'integer' ? Number(value) : value);
      if (fault !== undefined) return `status ${status}, header ${name}: ${fault}`;
    }
    if (head) return body === '' ? undefined : 'an answer to HEAD has a body';
    if (documented.content === undefined) return body === '' ? undefined : `status ${status} has a body: ${body}`;
    const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
    const content = documented.content[type] ?? documented.content['*/*'];
    if (content === undefined) return `status ${status} comes as "${type}", which is not documented`;
    const fault = this.mismatch(content.schema, type.endsWith('json') ? JSON.parse(body) : body);
    return fault === undefined ? undefined : `status ${status}: ${fault} in ${body.slice(0, 300)}`;
  }

  /** Describes how `value` violates `schema`; undefined if it is valid. */
  mismatch(schema: Schema, value: unknown): string | undefined {
    let validate = this.compiled.get(schema);
    if (validate === undefined) {
      validate = this.ajv.compile(this.whole(schema));
      this.compiled.set(schema, validate);
    }
    return validate(value) ? undefined : this.ajv.errorsText(validate.errors);
  }

  /** Resolves references and closes objects, because responses must not have undocumented properties. */
  whole(schema: Schema): Schema {
    if (schema.$ref !== undefined) {
      const named = this.document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
      if (named === undefined) throw new Error(`${schema.$ref} leads nowhere.`);
      return this.whole(named);
    }
    const { items, properties, allOf, additionalProperties } = schema;
    const closed = schema.type === 'object' && properties !== undefined && additionalProperties === undefined;
    return {
      ...schema,
      ...(items === undefined ? {} : { items: this.whole(items) }),
      ...(allOf === undefined ? {} : { allOf: allOf.map((part) => this.whole(part)) }),
      ...(typeof additionalProperties === 'object' ? { additionalProperties: this.whole(additionalProperties) } : {}),
      ...(closed ? { additionalProperties: false } : {}),
      ...(properties === undefined
        ? {}
        : {
            properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, this.whole(each)])),
          }),
    };
  }
}
