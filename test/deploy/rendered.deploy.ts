import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubernetesObject, KUBERNETES_VERSIONS, KubernetesSchemas } from '../support/deploy/kubernetes-schemas';
import {
  CHART,
  helm,
  helmTemplate,
  kustomizations,
  kustomize,
  objectsOf,
  type Values,
} from '../support/deploy/rendered';
import { MANIFESTS, schemaFaults } from '../support/manifests';

/** The first run builds Helm and Kustomize. */
const BUILD_MS = 1_200_000;

/** The values with which the chart renders the objects of a folder of deploy/kubernetes. */
const SAME: Readonly<Record<string, Values>> = {
  deployment: {},
  leases: { registry: 'kubernetes' },
  statefulset: { kind: 'StatefulSet', registry: 'mysql' },
  'leases-statefulset': { kind: 'StatefulSet', registry: 'kubernetes' },
};

const toleration = { key: 'dedicated', operator: 'Equal', value: 'leaf', effect: 'NoSchedule' };
const term = { matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] };
const OTHER: Readonly<Record<string, Values>> = {
  'every value': {
    registry: 'etcd',
    image: { repository: 'example.org/leaf', tag: '1', pullPolicy: 'Always', pullSecrets: [{ name: 'registry' }] },
    replicas: 17,
    existingSecret: 'ids',
    secretSettings: { LEAF_ETCD_ENDPOINTS: 'etcd', LEAF_TAKER_TOKENS: 'taker-tokens' },
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

let directory: string;
let versions: readonly (readonly [version: string, schemas: KubernetesSchemas])[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-helm-'));
  versions = await Promise.all(
    KUBERNETES_VERSIONS.map(async (version) => [version, await KubernetesSchemas.load(version)] as const),
  );
  await Promise.all([helmTemplate(directory), kustomize('base')]);
}, BUILD_MS);
afterAll(() => rm(directory, { recursive: true }));

/** What is wrong with the objects, in any of the versions. */
function faultsOf(objects: readonly KubernetesObject[]): string[] {
  return objects.flatMap((object) => {
    const check = (schemas: KubernetesSchemas): string[] =>
      object.apiVersion.startsWith('monitoring.coreos.com/')
        ? schemaFaults({ file: '', ...object })
        : schemas.faults(object);
    return versions.flatMap(([version, schemas]) =>
      check(schemas).map((fault) => `${version} ${object.kind} ${object.metadata.name}: ${fault}`),
    );
  });
}

describe('by the schemas of the three newest Kubernetes versions', () => {
  it.each(kustomizations())('kustomize build deploy/kubernetes/%s is valid', async (folder) => {
    const objects = await kustomize(folder);
    expect(objects.length).toBeGreaterThan(0);
    expect(faultsOf(objects)).toEqual([]);
  });

  it('the template of the Secret is valid', () => {
    expect(faultsOf(objectsOf(readFileSync(join(MANIFESTS, 'secret.example.yaml'), 'utf8')))).toEqual([]);
  });

  it.each(Object.entries({ ...SAME, ...OTHER }))('the chart with the values of %s is valid', async (_name, values) => {
    expect(faultsOf(await helmTemplate(directory, values))).toEqual([]);
  });

  it.each([
    ['a misspelt field', { spec: { minAvailble: 1 } }, /additional properties minAvailble$/],
    ['a value of another type', { spec: { maxUnavailable: true } }, /maxUnavailable must be/],
    ['a field without its required one', { spec: { selector: { matchExpressions: [{}] } } }, /required property 'key'/],
    ['an API version that was removed', { apiVersion: 'policy/v1beta1' }, /policy\/v1beta1 is not served$/],
    ['a kind of another group', { apiVersion: 'apps/v1' }, /Unknown kind PodDisruptionBudget of apps\/v1$/],
  ])('%s is refused in each version', async (_name, change, fault) => {
    const [budget] = (await kustomize('base')).filter(({ kind }) => kind === 'PodDisruptionBudget');
    const faults = faultsOf([{ ...budget!, ...change }]);
    for (const version of KUBERNETES_VERSIONS) {
      expect(faults).toContainEqual(expect.stringMatching(`^${version} .*${fault.source}`));
    }
  });

  it('a variable that is set twice is refused', async () => {
    const [deployment] = (await kustomize('deployment')).filter(({ kind }) => kind === 'Deployment');
    const text = JSON.stringify(deployment).replace('LEAF_DATA_DIR', 'LEAF_LOG_FORMAT');
    expect(faultsOf([JSON.parse(text) as KubernetesObject])).toHaveLength(KUBERNETES_VERSIONS.length);
  });
});

describe('the chart', () => {
  it.each(Object.entries(SAME))('renders what deploy/kubernetes/%s has', async (folder, values) => {
    const [chart, folders] = await Promise.all([helmTemplate(directory, values), kustomize(folder)]);
    expect(comparable(chart)).toEqual(comparable(folders));
  });

  it('has the ServiceMonitor of deploy/kubernetes/monitoring', async () => {
    const monitors = (objects: KubernetesObject[]): KubernetesObject[] =>
      objects.filter(({ kind }) => kind === 'ServiceMonitor');
    const [chart, folder] = await Promise.all([
      helmTemplate(directory, { serviceMonitor: { enabled: true } }),
      kustomize('monitoring'),
    ]);
    expect(comparable(monitors(chart))).toEqual(comparable(monitors(folder)));
  });

  it('has a place for every value', async () => {
    const text = JSON.stringify(await helmTemplate(directory, OTHER['every value']));
    const words = JSON.stringify(OTHER['every value']).match(/"[^"]+"(?=[,}\]])|\d{2,}/g) ?? [];
    expect(words.length).toBeGreaterThan(30);
    expect(words.filter((word) => !text.includes(word.replaceAll('"', '')))).toEqual([]);
  });

  it('quotes the names that YAML reads as numbers', async () => {
    const values = {
      kind: 'StatefulSet',
      existingSecret: '123',
      secretSettings: { LEAF_DATABASE_URL: '1e3', LEAF_ADMIN_TOKEN: '0' },
      priorityClassName: '7',
      storage: { className: '8' },
    };
    expect(faultsOf(objectsOf(await helm(directory, ['template', '2026', CHART], values)))).toEqual([]);
  });

  it.each(['zk_recycle', 'zk_normal'])('lets the servers of %s ask each other for the time', async (registry) => {
    const settings = { LEAF_ZOOKEEPER: 'zookeeper:2181' };
    const values = { kind: 'StatefulSet', registry, settings, networkPolicy: { callers: [] } };
    const policy = (await helmTemplate(directory, values)).find(({ kind }) => kind === 'NetworkPolicy') as Policy;
    const { ingress, podSelector } = policy.spec;
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

/** Without the labels that only Helm sets, and without the order of objects and variables. */
function comparable(objects: readonly KubernetesObject[]): Map<string, KubernetesObject> {
  const plain = JSON.parse(JSON.stringify(objects), (key, value: unknown) => {
    if (/^(helm\.sh\/chart|app\.kubernetes\.io\/(instance|version|managed-by))$/.test(key)) return undefined;
    return key === 'env' ? [...(value as { name: string }[])].sort((a, b) => (a.name < b.name ? -1 : 1)) : value;
  }) as KubernetesObject[];
  return new Map(plain.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
}
