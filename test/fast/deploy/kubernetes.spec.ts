import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../../apps/leaf-server/src/config/leaf-config';
import { VARIABLES } from '../../../apps/leaf-server/src/config/variables';
import { ROOT } from '../../support/build';
import { KubernetesApi } from '../../support/fakes/kubernetes-api';
import { call } from '../../support/http/http';
import type { KubernetesObject, Labels, Selector, Workload } from '../../support/manifests';
import { only, readManifest } from '../../support/manifests';
import { startTestServer, type TestServer } from '../../support/servers/server';

type Service = KubernetesObject & {
  readonly spec: {
    readonly clusterIP?: string;
    readonly selector: Labels;
    readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
  };
};

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
}

type Policy = KubernetesObject & {
  readonly spec: {
    readonly podSelector: Selector;
    readonly ingress: readonly { readonly from: readonly Peer[]; readonly ports: readonly object[] }[];
    readonly egress: readonly { readonly ports: readonly { readonly port: number | string }[] }[];
  };
};

const VARIANTS = [
  { name: 'deployment', kind: 'Deployment', registry: 'database' },
  { name: 'deployment-leases', kind: 'Deployment', registry: 'kubernetes' },
  { name: 'statefulset', kind: 'StatefulSet', registry: 'mysql' },
  { name: 'statefulset-leases', kind: 'StatefulSet', registry: 'kubernetes' },
] as const;

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The Secret that the commands of a page create. */
function secretOf(page: string): { readonly name: string | undefined; readonly keys: (string | undefined)[] } {
  const text = read(page);
  const keys = [...text.matchAll(/--from-literal=([\w-]+)=/g)].map(([, key]) => key);
  return { name: /create secret generic (\S+)/.exec(text)?.[1], keys };
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ LEAF_MANAGEMENT_PORT: '0' });
});
afterAll(() => server.stop());

it('deploy/kubernetes has these variants', () => {
  expect(readdirSync(join(ROOT, 'deploy/kubernetes')).sort()).toEqual(
    VARIANTS.map(({ name }) => `${name}.yaml`).sort(),
  );
});

describe.each(VARIANTS)('deploy/kubernetes/$name.yaml', ({ name: file, kind, registry }) => {
  const objects = readManifest(file);
  const workload = only<Workload>(kind, objects);
  const { spec: pod, metadata } = workload.spec.template;
  const [container] = pod.containers;
  const env = new Map(container.env.map((variable) => [variable.name, variable]));
  const services = objects.filter((object): object is Service => object.kind === 'Service');
  const policy = only<Policy>('NetworkPolicy', objects);
  const usesLeases = registry === 'kubernetes';

  it('has one workload, whose pods everything selects, by labels that do not depend on Helm', () => {
    expect(objects.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))).toEqual([workload]);
    expect(metadata.labels).toEqual({ 'app.kubernetes.io/name': 'leaf', 'app.kubernetes.io/component': 'server' });
    const budget = only<KubernetesObject & { spec: { selector: Selector } }>('PodDisruptionBudget', objects);
    const selectors = [
      workload.spec.selector.matchLabels,
      budget.spec.selector.matchLabels,
      policy.spec.podSelector.matchLabels,
      ...services.map(({ spec }) => spec.selector),
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
    ];
    for (const selector of selectors) expect(selector).toEqual(metadata.labels);
    expect(only('ServiceAccount', objects).metadata.name).toBe(pod.serviceAccountName);
    expect(JSON.stringify(objects)).not.toMatch(/helm/i);
  });

  it('scales a Deployment by the rate that prometheus-adapter provides', () => {
    const scalers = objects.filter((object) => object.kind === 'HorizontalPodAutoscaler');
    const { rules } = parse(read('deploy/prometheus/adapter.rules.yaml')) as { rules: { name: { as: string } }[] };
    const metric = { type: 'Pods', pods: { metric: { name: rules[0]!.name.as } } };
    const scaleTargetRef = { apiVersion: 'apps/v1', kind, name: workload.metadata.name };
    const spec = { scaleTargetRef, metrics: [metric, { type: 'Resource' }] };
    expect(scalers).toMatchObject(kind === 'Deployment' ? [{ spec }] : []);
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
    const namespaces = (from: readonly Peer[]): (Labels | undefined)[] =>
      from.map(({ namespaceSelector }) => namespaceSelector?.matchLabels);
    const { ingress, egress } = policy.spec;
    expect(ingress.map(({ from, ports }) => [namespaces(from), ports])).toEqual([
      [[undefined, { 'leaf-callers': 'true' }], [{ protocol: 'TCP', port: 'http' }]],
      [
        [undefined, { 'kubernetes.io/metadata.name': 'monitoring' }, { 'leaf-operators': 'true' }],
        [{ protocol: 'TCP', port: 'management' }],
      ],
    ]);
    const [callers, operators] = ingress.map(({ from }) => from[0]?.podSelector);
    expect([callers, operators?.matchLabels]).toEqual([{}, metadata.labels]);
    const ports = egress.flatMap((rule) => rule.ports.map(({ port }) => port));
    expect([ports.includes(443), ports.includes(6443)]).toEqual([usesLeases, usesLeases]);
  });

  it.each(['docs/operations/containers.md', 'docs/operations/helm.md'])(
    'sets variables that there are, from the Secret that %s creates',
    (page) => {
      const known = [...Object.keys(VARIABLES), 'POD_NAME', 'POD_NAMESPACE', 'NODE_OPTIONS'];
      expect([...env.keys()].filter((name) => !known.includes(name))).toStrictEqual([]);
      const references = container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
      expect(references.length).toBeGreaterThanOrEqual(2);
      const secret = secretOf(page);
      for (const { name, key } of references) {
        expect(secret).toEqual({ name, keys: expect.arrayContaining([key]) as string[] });
      }
      for (const [name, { secret: hidden }] of Object.entries(VARIABLES)) {
        if (hidden) expect([name, env.get(name)?.value]).toEqual([name, undefined]);
      }
    },
  );

  it('gives the heap five eighths of the memory limit', () => {
    const limitMib = Number(/^(\d+)Mi$/.exec(container.resources.limits.memory)?.[1]);
    expect(env.get('NODE_OPTIONS')?.value).toBe(`--max-old-space-size=${(limitMib * 5) / 8}`);
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

  it('has no privileges, and a token of the API server only for Leases', () => {
    expect(pod.enableServiceLinks).toBe(false);
    expect(pod).toMatchObject({
      automountServiceAccountToken: usesLeases,
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
    expect(more).toStrictEqual([]);
    expect(env.get('LEAF_DATA_DIR')?.value).toBe(mount?.mountPath);
    expect(volumes).toEqual([mount?.name]);
  });

  it('sets values that the server takes, and worker IDs of its registry', () => {
    const values = [...env].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]]));
    const found = { LEAF_DATABASE_URL: 'mysql://leaf:password@mariadb:3306/leaf', LEAF_ADVERTISE_HOST: 'leaf-0' };
    const cluster = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const { ids } = loadConfig({ ...Object.fromEntries(values), ...found, ...cluster });
    expect(ids.snowflake?.registry.strategy).toBe(registry);
  });

  if (usesLeases) {
    it('has the rights on Leases that its registry needs', async () => {
      const { rules, metadata: role } = only<KubernetesObject & { rules: { verbs: string[] }[] }>('Role', objects);
      expect(rules).toEqual([expect.objectContaining({ apiGroups: ['coordination.k8s.io'], resources: ['leases'] })]);
      // The stand-in refuses any other verb, and the contracts pass on it.
      const api = await KubernetesApi.start();
      expect(rules[0]!.verbs).toEqual([...api.verbs]);
      await api.stop();
      expect(only('RoleBinding', objects)).toMatchObject({
        roleRef: { kind: 'Role', name: role.name },
        subjects: [{ kind: 'ServiceAccount', name: pod.serviceAccountName }],
      });
    });
  }

  it('advertises addresses, or names that the headless Service makes known', () => {
    const advertised = env.get('LEAF_ADVERTISE_HOST');
    const index = env.get('LEAF_KUBERNETES_POD_INDEX')?.valueFrom?.fieldRef?.fieldPath;
    if (kind === 'Deployment') {
      expect(advertised?.valueFrom).toEqual({ fieldRef: { fieldPath: 'status.podIP' } });
      expect(index).toBeUndefined();
      return;
    }
    expect(index).toBe(usesLeases ? "metadata.labels['apps.kubernetes.io/pod-index']" : undefined);
    const [headless] = services.filter(({ spec }) => spec.clusterIP === 'None');
    expect(workload.spec.serviceName).toBe(headless!.metadata.name);
    const host = `$(POD_NAME).${headless!.metadata.name}.$(POD_NAMESPACE).svc`;
    expect(advertised?.value).toBe(host);
    const longest = host.replace('$(POD_NAME)', 'leaf-999').replace('$(POD_NAMESPACE)', 'n'.repeat(63));
    // The column of leaf_workerid_alloc that it goes to, with the port.
    expect(`${longest}:8080`.length).toBeLessThanOrEqual(127);
    expect(() => VARIABLES.LEAF_ADVERTISE_HOST.parse(longest)).not.toThrow();
  });

  it.each(['startup', 'liveness', 'readiness'] as const)('has an answer for the %s probe', async (name) => {
    const { path, port } = container[`${name}Probe`].httpGet;
    expect(port).toBe('management');
    const answer = await call(server.server.managementPort!, path);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, expect.objectContaining({ status: 'ok' })]);
  });
});
