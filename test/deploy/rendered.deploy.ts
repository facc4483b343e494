import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, parse as parsePath } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../support/build';
import { helmProgram } from '../support/deploy/go-modules';
import { KUBERNETES_VERSIONS, KubernetesSchemas } from '../support/deploy/kubernetes-schemas';
import { CHART, helm, helmTemplate, type Values } from '../support/deploy/rendered';
import { type KubernetesObject, objectsOf, only, readManifest, type Selector } from '../support/manifests';
import { run } from '../support/servers/services';

/** The first run builds Helm. */
const BUILD_MS = 1_200_000;

const VARIANTS = readdirSync(join(ROOT, 'deploy/kubernetes')).map((file) => parsePath(file).name);
const MONITORING: Values = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };

const toleration = { key: 'dedicated', operator: 'Equal', value: 'leaf', effect: 'NoSchedule' };
const term = { matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] };
const OTHER: Readonly<Record<string, Values>> = {
  'every value': {
    registry: 'etcd',
    image: { repository: 'example.org/leaf', tag: '1', pullPolicy: 'Always', pullSecrets: [{ name: 'registry' }] },
    replicas: 17,
    existingSecret: 'ids',
    secretSettings: { LEAF_ETCD_ENDPOINTS: 'etcd', LEAF_CLIENT_TOKENS: 'client-tokens' },
    settings: { LEAF_SHUTDOWN_DRAIN_MS: '20000', LEAF_ETCD_TLS_CA_FILE: '/etc/etcd/ca.crt' },
    resources: { requests: { cpu: '2' }, limits: { memory: '1Gi' } },
    volumes: [{ name: 'etcd', secret: { secretName: 'etcd-ca' } }],
    volumeMounts: [{ name: 'etcd', mountPath: '/etc/etcd', readOnly: true }],
    podLabels: { team: 'ids' },
    podAnnotations: { 'example.org/note': 'yes' },
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [toleration],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
    priorityClassName: 'high',
    topologySpread: { whenUnsatisfiable: 'DoNotSchedule' },
    podDisruptionBudget: { maxUnavailable: '25%' },
    serviceAccount: { annotations: { 'example.org/role': 'leaf' } },
    service: { type: 'LoadBalancer', annotations: { 'example.org/internal': 'true' } },
    networkPolicy: {
      callers: [],
      operators: [],
      egressPorts: [2379],
      egress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ protocol: 'TCP', port: 4318 }] }],
    },
    autoscaling: { enabled: false },
    serviceMonitor: { enabled: true, interval: '30s', labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, labels: { rules: 'ids' } },
  },
  'a StatefulSet with a StorageClass': {
    kind: 'StatefulSet',
    registry: 'zk_normal',
    settings: { LEAF_ZOOKEEPER: 'zookeeper:2181' },
    storage: { size: '2Gi', className: 'fast' },
  },
  'nothing optional': {
    registry: 'zk_recycle',
    settings: { LEAF_ZOOKEEPER: 'zookeeper:2181', LEAF_LOG_FORMAT: null },
    networkPolicy: { enabled: false },
    autoscaling: { enabled: false },
  },
};

type Policy = KubernetesObject & { readonly spec: { readonly ingress: object[]; readonly podSelector: object } };
type Monitor = KubernetesObject & { readonly spec: { readonly selector: Selector; readonly endpoints: object[] } };

let directory: string;
let versions: readonly (readonly [version: string, schemas: KubernetesSchemas])[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-helm-'));
  versions = await Promise.all(
    KUBERNETES_VERSIONS.map(async (version) => [version, await KubernetesSchemas.load(version)] as const),
  );
  await helmProgram();
}, BUILD_MS);
afterAll(() => rm(directory, { recursive: true }));

/** What is wrong with the objects, in any of the versions. */
function faultsOf(objects: readonly KubernetesObject[]): string[] {
  return versions.flatMap(([version, schemas]) =>
    objects.flatMap((object) =>
      schemas.faults(object).map((fault) => `${version} ${object.kind} ${object.metadata.name}: ${fault}`),
    ),
  );
}

it('deploy/kubernetes is what the chart renders', async () => {
  const check = ['scripts/write-manifests.mjs', '--check', '--helm', await helmProgram()];
  await expect(run(process.execPath, check, { cwd: ROOT })).resolves.toMatchObject({ stderr: '' });
});

describe('by the schemas of the three newest Kubernetes versions', () => {
  it.each(VARIANTS)('deploy/kubernetes/%s.yaml is valid', (name) => {
    expect(faultsOf(readManifest(name))).toStrictEqual([]);
  });

  it.each(Object.entries(OTHER))('the chart with the values of %s is valid', async (_name, values) => {
    expect(faultsOf(await helmTemplate(directory, values))).toStrictEqual([]);
  });

  it.each([
    ['a misspelt field', { spec: { minAvailble: 1 } }, /additional properties minAvailble$/],
    ['a value of another type', { spec: { maxUnavailable: true } }, /maxUnavailable must be/],
    ['a field without its required one', { spec: { selector: { matchExpressions: [{}] } } }, /required property 'key'/],
    ['an API version that was removed', { apiVersion: 'policy/v1beta1' }, /policy\/v1beta1 is not served$/],
    ['a kind of another group', { apiVersion: 'apps/v1' }, /Unknown kind PodDisruptionBudget of apps\/v1$/],
  ])('%s is refused in each version', (_name, change, fault) => {
    const faults = faultsOf([{ ...only('PodDisruptionBudget', readManifest('deployment')), ...change }]);
    for (const version of KUBERNETES_VERSIONS) {
      expect(faults).toContainEqual(expect.stringMatching(`^${version} .*${fault.source}`));
    }
  });

  it('a misspelt field of the Prometheus operator is refused', async () => {
    const monitor = only('ServiceMonitor', await helmTemplate(directory, MONITORING));
    expect(faultsOf([monitor])).toStrictEqual([]);
    expect(faultsOf([{ ...monitor, spec: { ...monitor.spec, endpoint: [] } }])).toContainEqual(
      expect.stringMatching(/additional properties endpoint$/),
    );
  });

  it('a variable that is set twice is refused', () => {
    const text = JSON.stringify(only('Deployment', readManifest('deployment'))).replace(
      'LEAF_DATA_DIR',
      'LEAF_LOG_FORMAT',
    );
    expect(faultsOf([JSON.parse(text) as KubernetesObject])).toHaveLength(KUBERNETES_VERSIONS.length);
  });
});

describe('the chart', () => {
  it('scrapes each pod of a StatefulSet once, on the management port', async () => {
    const objects = await helmTemplate(directory, { ...MONITORING, kind: 'StatefulSet' });
    const { spec } = only<Monitor>('ServiceMonitor', objects);
    const selected = Object.entries(spec.selector.matchLabels);
    const found = objects.filter(
      ({ kind, metadata }) =>
        kind === 'Service' && selected.every(([name, value]) => metadata.labels?.[name] === value),
    );
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['leaf']);
    expect(spec.endpoints).toEqual([expect.objectContaining({ port: 'management', path: '/metrics' })]);
  });

  it('has the rules of deploy/prometheus', async () => {
    const rules = parse(readFileSync(join(ROOT, 'deploy/prometheus/leaf.rules.yaml'), 'utf8')) as object;
    expect(only('PrometheusRule', await helmTemplate(directory, MONITORING)).spec).toEqual(rules);
  });

  it('has a place for every value', async () => {
    const text = JSON.stringify(await helmTemplate(directory, OTHER['every value']));
    const words = JSON.stringify(OTHER['every value']).match(/"[^"]+"(?=[,}\]])|\d{2,}/g) ?? [];
    expect(words.length).toBeGreaterThan(30);
    expect(words.filter((word) => !text.includes(word.replaceAll('"', '')))).toStrictEqual([]);
  });

  it('quotes the names that YAML reads as numbers', async () => {
    const values = {
      kind: 'StatefulSet',
      existingSecret: '123',
      secretSettings: { LEAF_DATABASE_URL: '1e3', LEAF_ADMIN_TOKEN: '0' },
      priorityClassName: '7',
      storage: { className: '8' },
    };
    expect(faultsOf(objectsOf(await helm(directory, ['template', '2026', CHART], values)))).toStrictEqual([]);
  });

  it.each(['zk_recycle', 'zk_normal'])('lets the servers of %s ask each other for the time', async (registry) => {
    const settings = { LEAF_ZOOKEEPER: 'zookeeper:2181' };
    const values = { kind: 'StatefulSet', registry, settings, networkPolicy: { callers: [] } };
    const { ingress, podSelector } = only<Policy>('NetworkPolicy', await helmTemplate(directory, values)).spec;
    expect(ingress).toContainEqual({ from: [{ podSelector }], ports: [{ protocol: 'TCP', port: 'http' }] });
  });

  it('passes helm lint', async () => {
    await expect(helm(directory, ['lint', CHART, '--strict'])).resolves.toContain('0 chart(s) failed');
  });

  it.each([
    ['an unknown value', { replica: 2 }, 'replica'],
    ['an unknown value of a group', { autoscaling: { min: 2 } }, 'min'],
    ['a registry of fixed workers in a Deployment', { registry: 'mysql' }, 'kind'],
    ['etcd without its endpoints', { registry: 'etcd' }, 'LEAF_ETCD_ENDPOINTS'],
    ['a setting that is a number', { settings: { LEAF_PROCESSES: 2 } }, 'LEAF_PROCESSES'],
    ['a secret in plain text', { settings: { LEAF_WORKER_TOKENS: 'a:b' } }, 'LEAF_WORKER_TOKENS'],
    ['a setting of the chart itself', { settings: { LEAF_PORT: '80' } }, 'LEAF_PORT'],
    ['a setting in two places', { secretSettings: { LEAF_LOG_FORMAT: 'format' } }, 'LEAF_LOG_FORMAT'],
  ])('refuses %s', async (_name, values, name) => {
    await expect(helmTemplate(directory, values)).rejects.toThrow(name);
  });
});
