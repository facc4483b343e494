import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { KubernetesObject } from '../manifests';
import { goModule } from './go-modules';

/** The newest release of each of the three newest minor versions: `go list -m -versions k8s.io/kubernetes`. */
export const KUBERNETES_VERSIONS = ['v1.37.2', 'v1.36.3', 'v1.35.4'];

/** Its custom resources that the chart has, and the release that publishes their schemas. */
const OPERATOR = {
  apiVersion: 'monitoring.coreos.com/v1',
  version: 'v0.85.0',
  kinds: ['prometheusrule', 'servicemonitor'],
};

interface GroupKind {
  readonly kind: string;
}

interface CustomResource {
  readonly spec: {
    readonly names: GroupKind;
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: object } }];
  };
}

interface OpenApi {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly [GROUP_KINDS]?: readonly GroupKind[] }>>;
  };
}

const GROUP_KINDS = 'x-kubernetes-group-version-kind';

/** The schemas that the API server of a version and the Prometheus operator publish, without unknown fields and without duplicate list entries. */
export class KubernetesSchemas {
  private readonly ajv = new Ajv({
    strict: false,
    allErrors: true,
    formats: { 'int-or-string': true, quantity: true },
  });
  private readonly documents = new Map<string, OpenApi>();
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(
    private readonly directory: string,
    operator: string,
  ) {
    this.documents.set(OPERATOR.apiVersion, customResources(join(operator, 'example/prometheus-operator-crd')));
    addFormats(this.ajv);
    this.ajv.addKeyword({ keyword: 'x-kubernetes-list-map-keys', type: 'array', validate: hasUniqueKeys });
  }

  static async load(version: string): Promise<KubernetesSchemas> {
    const operator = await goModule('github.com/prometheus-operator/prometheus-operator', OPERATOR.version);
    return new KubernetesSchemas(join(await goModule('k8s.io/kubernetes', version), 'api/openapi-spec/v3'), operator);
  }

  /** What the API server would refuse, by the schema; a rule beyond schemas is not checked. */
  faults({ apiVersion, kind, ...rest }: KubernetesObject): string[] {
    const document = this.document(apiVersion);
    if (document === undefined) return [`The API version ${apiVersion} is not served`];
    const validate = this.validator(apiVersion, kind, document);
    if (validate === undefined) return [`Unknown kind ${kind} of ${apiVersion}`];
    if (validate({ apiVersion, kind, ...rest })) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath, message, (params as { additionalProperty?: string }).additionalProperty].filter(Boolean).join(' '),
    );
  }

  private document(apiVersion: string): OpenApi | undefined {
    const known = this.documents.get(apiVersion);
    const name = `${apiVersion.includes('/') ? 'apis' : 'api'}__${apiVersion.replace('/', '__')}_openapi.json`;
    const file = join(this.directory, name);
    if (known !== undefined || !existsSync(file)) return known;
    const document = JSON.parse(readFileSync(file, 'utf8'), closeObject) as OpenApi;
    this.documents.set(apiVersion, document);
    return document;
  }

  private validator(apiVersion: string, kind: string, { components }: OpenApi): ValidateFunction | undefined {
    const id = `${apiVersion} ${kind}`;
    const known = this.validators.get(id);
    const [name] = Object.entries(components.schemas).find(([, schema]) => describes(schema, kind)) ?? [];
    if (known !== undefined || name === undefined) return known;
    const validate = this.ajv.compile({ $ref: `#/components/schemas/${name}`, components });
    this.validators.set(id, validate);
    return validate;
  }
}

function customResources(directory: string): OpenApi {
  const schemas = OPERATOR.kinds.map((kind) => {
    const text = readFileSync(join(directory, `monitoring.coreos.com_${kind}s.yaml`), 'utf8');
    // (?i) of Go's patterns makes upper case valid, too; JavaScript has no such flag inside a pattern.
    const { names, versions } = (parse(text.replaceAll('(?i)', '')) as CustomResource).spec;
    return [names.kind, { ...versions[0].schema.openAPIV3Schema, [GROUP_KINDS]: [{ kind: names.kind }] }];
  });
  const document = { components: { schemas: Object.fromEntries(schemas) as object } };
  return JSON.parse(JSON.stringify(document), closeObject) as OpenApi;
}

function describes(schema: OpenApi['components']['schemas'][string], kind: string): boolean {
  const kinds = schema[GROUP_KINDS] ?? [];
  return kinds.length === 1 && kinds[0]?.kind === kind;
}

/** Refuses unknown fields of an object whose fields are listed. */
function closeObject(_key: string, value: unknown): unknown {
  const isOpen =
    isObject(value) && value.type === 'object' && 'properties' in value && !('additionalProperties' in value);
  return isOpen ? { ...value, additionalProperties: false } : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function hasUniqueKeys(keys: readonly string[], items: readonly Record<string, unknown>[]): boolean {
  return new Set(items.map((item) => JSON.stringify(keys.map((key) => item[key])))).size === items.length;
}
