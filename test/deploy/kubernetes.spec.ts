import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../apps/leaf-server/src/config/leaf-config';
import { VARIABLES } from '../../apps/leaf-server/src/config/variables';
import { ROOT } from '../support/build';
import { KubernetesApi } from '../support/fakes/kubernetes-api';
import { call } from '../support/http/http';
import { type Labels, type Manifest, MANIFESTS, manifestsOf, readManifests, resourcesOf } from '../support/manifests';
import { schemaFaults } from '../support/manifests';
import { startTestServer, type TestServer } from '../support/servers/server';

interface Selector {
  readonly matchLabels: Labels;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly Variable[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly containers: readonly [Container];
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number };
  readonly serviceAccountName: string;
  readonly topologySpreadConstraints: readonly { readonly labelSelector: Selector }[];
  readonly volumes?: readonly { readonly name: string }[];
}

interface Workload extends Manifest {
  readonly spec: {
    readonly selector: Selector;
    readonly serviceName?: string;
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

/** A change of what other files say. */
interface Patch {
  readonly target: { readonly kind: string; readonly name: string };
  readonly patch: string;
}

interface ServiceManifest extends Manifest {
  readonly spec: {
    readonly clusterIP?: string;
    readonly selector: Labels;
    readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
  };
}

const files = (readdirSync(MANIFESTS, { recursive: true }) as string[]).filter((file) => file.endsWith('.yaml'));
const kustomizations = files.filter((file) => file.endsWith('kustomization.yaml'));
const manifests = files.filter((file) => !kustomizations.includes(file)).flatMap(readManifests);
const secret = readManifests('secret.example.yaml')[0] as Manifest & { stringData: Labels };

function ofKind(kind: string, among: readonly Manifest[] = manifests): Manifest[] {
  return among.filter((manifest) => manifest.kind === kind);
}

function only(kind: string, among?: readonly Manifest[]): Manifest {
  const found = ofKind(kind, among);
  expect(found).toHaveLength(1);
  return found[0]!;
}

function matches(selector: Labels, labels: Labels | undefined): boolean {
  return Object.entries(selector).every(([name, value]) => labels?.[name] === value);
}

describe('every manifest', () => {
  it.each(manifests.map((manifest) => [`${manifest.file}: ${manifest.kind}`, manifest]))(
    '%s is as its schema says',
    (_name, manifest) => {
      expect(schemaFaults(manifest)).toEqual([]);
    },
  );

  it('would be found wrong by a field that there is not, or a value of another type', () => {
    const workload = only('Deployment') as Workload;
    const wrong = (spec: object): Manifest => ({ ...workload, spec: { ...workload.spec, ...spec } }) as Manifest;
    expect(schemaFaults(wrong({ replica: 3 }))).toEqual(['unknown field /spec/replica']);
    expect(schemaFaults(wrong({ replicas: 'three' }))).toEqual([expect.stringContaining('replicas')]);
    expect(schemaFaults({ ...workload, apiVersion: 'apps/v1beta1' })).toEqual([
      expect.stringContaining('unknown kind Deploy'),
    ]);
  });

  it('belongs to a kustomization, but the template of the Secret', () => {
    const named = kustomizations.flatMap(resourcesOf);
    expect(named.filter((path) => !existsSync(join(MANIFESTS, path)))).toEqual([]);
    const left = files.filter((file) => !kustomizations.includes(file) && !named.includes(file));
    expect(left).toEqual(['secret.example.yaml']);
  });

  it('that scales names the workload beside it', () => {
    const { spec } = only('HorizontalPodAutoscaler', manifestsOf('deployment')) as Manifest & {
      spec: { scaleTargetRef: object; metrics: object[] };
    };
    const { apiVersion, kind, metadata } = only('Deployment', manifestsOf('deployment'));
    expect(spec.scaleTargetRef).toEqual({ apiVersion, kind, name: metadata.name });
    const adapter = parse(readFileSync(join(ROOT, 'deploy/prometheus/adapter.rules.yaml'), 'utf8')) as {
      rules: { name: { as: string } }[];
    };
    expect(spec.metrics[0]).toMatchObject({ pods: { metric: { name: adapter.rules[0]!.name.as } } });
  });

  it('PrometheusRule has the rules of deploy/prometheus (node scripts/write-prometheus-rule.mjs)', () => {
    const rules = parse(readFileSync(join(ROOT, 'deploy/prometheus/leaf.rules.yaml'), 'utf8')) as object;
    expect((only('PrometheusRule') as Manifest & { spec: object }).spec).toEqual(rules);
  });
});

describe.each([
  ['deployment', 'Deployment'],
  ['statefulset', 'StatefulSet'],
])('the variant %s', (folder, kind) => {
  const parts = manifestsOf(folder);
  const workload = (ofKind(kind, parts) as Workload[])[0]!;
  const { spec: pod, metadata } = workload.spec.template;
  const [container] = pod.containers;
  const env = new Map(container.env.map((variable) => [variable.name, variable]));
  const services = ofKind('Service', parts) as ServiceManifest[];

  it('has one workload, whose pods everything selects', () => {
    expect([...ofKind('Deployment', parts), ...ofKind('StatefulSet', parts)]).toHaveLength(1);
    const budget = only('PodDisruptionBudget', parts) as Manifest & { spec: { selector: Selector } };
    const policy = only('NetworkPolicy', parts) as Manifest & { spec: { podSelector: Selector } };
    const selectors = [
      workload.spec.selector.matchLabels,
      budget.spec.selector.matchLabels,
      policy.spec.podSelector.matchLabels,
      ...services.map(({ spec }) => spec.selector),
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
    ];
    for (const selector of selectors) expect(selector).toEqual(metadata.labels);
    expect(only('ServiceAccount', parts).metadata.name).toBe(pod.serviceAccountName);
  });

  it('has a port for callers and one for operators, by one name each', () => {
    const port = Number(VARIABLES.LEAF_PORT.default);
    const management = Number(env.get('LEAF_MANAGEMENT_PORT')?.value);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: port },
      { name: 'management', containerPort: management },
    ]);
    const named = [
      { name: 'http', port, targetPort: 'http' },
      { name: 'management', port: management, targetPort: 'management' },
    ];
    for (const { spec } of services) expect(spec.ports).toEqual(spec.clusterIP === 'None' ? [named[0]] : named);
  });

  it('lets callers reach the public port only, and only operators the other one', () => {
    const namespaces = (rule: { from: { namespaceSelector?: Selector }[] }): (Labels | undefined)[] =>
      rule.from.map(({ namespaceSelector }) => namespaceSelector?.matchLabels);
    const policy = only('NetworkPolicy', parts) as Manifest & {
      spec: { ingress: { from: { podSelector?: Selector; namespaceSelector?: Selector }[]; ports: object[] }[] };
    };
    expect(policy.spec.ingress.map((rule) => [namespaces(rule), rule.ports])).toEqual([
      [[undefined, { 'leaf-callers': 'true' }], [{ protocol: 'TCP', port: 'http' }]],
      [
        [undefined, { 'kubernetes.io/metadata.name': 'monitoring' }, { 'leaf-operators': 'true' }],
        [{ protocol: 'TCP', port: 'management' }],
      ],
    ]);
    const [callers, operators] = policy.spec.ingress.map(({ from }) => from[0]?.podSelector);
    expect([callers, operators?.matchLabels]).toEqual([{}, metadata.labels]);
  });

  it('is scraped once for each pod', () => {
    const monitor = only('ServiceMonitor') as Manifest & { spec: { selector: Selector; endpoints: object[] } };
    const found = services.filter(({ metadata: { labels } }) => matches(monitor.spec.selector.matchLabels, labels));
    expect(found.map(({ metadata: { name } }) => name)).toEqual(['leaf']);
    expect(monitor.spec.endpoints).toEqual([expect.objectContaining({ port: 'management', path: '/metrics' })]);
  });

  it('sets variables that there are, from keys of the Secret that there are', () => {
    const known = [...Object.keys(VARIABLES), 'POD_NAME', 'POD_NAMESPACE', 'NODE_OPTIONS'];
    expect([...env.keys()].filter((name) => !known.includes(name))).toEqual([]);
    const references = container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
    expect(references.length).toBeGreaterThanOrEqual(2);
    for (const { name, key } of references) {
      expect([name, Object.keys(secret.stringData)]).toEqual([secret.metadata.name, expect.arrayContaining([key])]);
    }
    for (const [name, { secret: hidden }] of Object.entries(VARIABLES)) {
      if (hidden) expect([name, env.get(name)?.value]).toEqual([name, undefined]);
    }
  });

  it('gives the heap five eighths of the memory limit', () => {
    const limitMib = Number(/^(\d+)Mi$/.exec(container.resources.limits.memory)?.[1]);
    expect(env.get('NODE_OPTIONS')?.value).toBe(`--max-old-space-size=${(limitMib * 5) / 8}`);
  });

  it('sets values that the server takes', () => {
    for (const { name, value } of container.env) {
      if (value === undefined || value.includes('$(') || name === 'NODE_OPTIONS') continue;
      const { parse: read } = VARIABLES[name as keyof typeof VARIABLES];
      expect(() => read(value)).not.toThrow();
    }
  });

  it('builds values from variables that come before them, as Kubernetes demands', () => {
    for (const [index, { value = '' }] of container.env.entries()) {
      const before = container.env.slice(0, index).map(({ name }) => name);
      const used = [...value.matchAll(/\$\((\w+)\)/g)].map(([, name]) => name!);
      expect(before).toEqual(expect.arrayContaining(used));
    }
  });

  it('gives a stop more time than the drain takes', () => {
    const drainMs = Number(env.get('LEAF_SHUTDOWN_DRAIN_MS')?.value ?? VARIABLES.LEAF_SHUTDOWN_DRAIN_MS.default);
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(drainMs + 20_000);
  });

  it('tolerates one slow answer to each probe, and notices a drain before it ends', () => {
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(probe.failureThreshold).toBeGreaterThanOrEqual(2);
      expect(probe.timeoutSeconds).toBeGreaterThanOrEqual(2);
    }
    const { periodSeconds, timeoutSeconds, failureThreshold } = container.readinessProbe;
    const drainMs = Number(env.get('LEAF_SHUTDOWN_DRAIN_MS')?.value);
    expect((periodSeconds * failureThreshold + timeoutSeconds) * 1000).toBeLessThan(drainMs);
  });

  it('has no privileges and no token of the API server', () => {
    expect(pod.enableServiceLinks).toBe(false);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(0);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('can write its data directory, and keeps it in a volume', () => {
    const volumes = [
      ...(pod.volumes ?? []).map(({ name }) => name),
      ...(workload.spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata.name),
    ];
    const [mount, ...more] = container.volumeMounts;
    expect(more).toEqual([]);
    expect(env.get('LEAF_DATA_DIR')?.value).toBe(mount?.mountPath);
    expect(volumes).toEqual([mount?.name]);
  });

  describe('asked by its probes', () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startTestServer({ LEAF_MANAGEMENT_PORT: '0' });
    });
    afterAll(() => server.stop());

    it.each(['startup', 'liveness', 'readiness'] as const)('has an answer for the %s probe', async (name) => {
      const { path, port } = container[`${name}Probe`].httpGet;
      expect(port).toBe('management');
      const answer = await call(server.server.managementPort!, path);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([200, expect.objectContaining({ status: 'ok' })]);
    });
  });
});

describe('worker IDs', () => {
  function settings(folder: string, kind: string): Map<string, Variable> {
    const { spec } = only(kind, manifestsOf(folder)) as Workload;
    return new Map(spec.template.spec.containers[0].env.map((variable) => [variable.name, variable]));
  }

  it('of pods whose addresses change come from the pool in the database', () => {
    const env = settings('deployment', 'Deployment');
    expect(env.get('LEAF_ADVERTISE_HOST')?.valueFrom).toEqual({ fieldRef: { fieldPath: 'status.podIP' } });
    const values = [...env].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]]));
    const { ids } = loadConfig({ ...Object.fromEntries(values), LEAF_DATABASE_URL: secret.stringData['database-url'] });
    expect(ids.snowflake?.registry.strategy).toBe('database');
  });

  it('of the component leases come from the API server, with the rights that this needs', async () => {
    const [component] = readManifests('components/leases/kustomization.yaml') as (Manifest & { patches: Patch[] })[];
    const { patch, target } = component!.patches[0]!;
    expect(target).toEqual({ kind: 'Deployment|StatefulSet', name: 'leaf' });
    const env = [{ name: 'LEAF_SNOWFLAKE_REGISTRY', value: 'kubernetes' }];
    const changed = { automountServiceAccountToken: true, containers: [{ name: 'leaf-server', env }] };
    expect(parse(patch)).toMatchObject({ spec: { template: { spec: changed } } });
    expect(VARIABLES.LEAF_SNOWFLAKE_REGISTRY.parse('kubernetes')).toBe('kubernetes');

    const { rules, metadata } = only('Role') as Manifest & { rules: { verbs: string[] }[] };
    expect(rules).toEqual([expect.objectContaining({ apiGroups: ['coordination.k8s.io'], resources: ['leases'] })]);
    // The stand-in refuses any other verb, and the contracts pass on it.
    const api = await KubernetesApi.start();
    expect(rules[0]!.verbs).toEqual([...api.verbs]);
    await api.stop();
    const account = only('ServiceAccount').metadata.name;
    expect(only('RoleBinding')).toMatchObject({
      roleRef: { kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: account }],
    });
  });

  it('of pods whose names stay belong to the name, which the headless Service makes known', () => {
    const env = settings('statefulset', 'StatefulSet');
    expect(['mysql', 'zk_normal']).toContain(env.get('LEAF_SNOWFLAKE_REGISTRY')?.value);
    const parts = manifestsOf('statefulset');
    const [headless] = (ofKind('Service', parts) as ServiceManifest[]).filter(({ spec }) => spec.clusterIP === 'None');
    expect((only('StatefulSet', parts) as Workload).spec.serviceName).toBe(headless!.metadata.name);
    const host = `$(POD_NAME).${headless!.metadata.name}.$(POD_NAMESPACE).svc`;
    expect(env.get('LEAF_ADVERTISE_HOST')?.value).toBe(host);
    const longest = host.replace('$(POD_NAME)', 'leaf-999').replace('$(POD_NAMESPACE)', 'n'.repeat(63));
    // The column of leaf_workerid_alloc that it goes to, with the port.
    expect(`${longest}:8080`.length).toBeLessThanOrEqual(127);
    expect(() => VARIABLES.LEAF_ADVERTISE_HOST.parse(longest)).not.toThrow();
  });
});
