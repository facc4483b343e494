import { ensureBuilt } from '../support/build';
import type { KubernetesApi } from '../support/fakes/kubernetes-api';
import { environmentOf, startSecureApi } from '../support/fakes/secure-kubernetes-api';
import { workerOf } from '../support/http/worker-of';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { until } from '../support/until';

/** Far less than the reserved time of a killed pod. */
const SOON_MS = 20_000;

const servers = new BuiltServers();
let api: KubernetesApi;

beforeAll(async () => {
  await ensureBuilt();
  api = await startSecureApi();
});
afterEach(() => servers.end());
afterAll(() => api.stop());

/** A pod of a StatefulSet. */
async function startPod(index: number): Promise<BuiltServer> {
  return servers.start(await servers.makeDirectory(), {
    LEAF_SEGMENT_ENABLED: 'false',
    LEAF_SNOWFLAKE_REGISTRY: 'kubernetes',
    ...environmentOf(api),
    LEAF_KUBERNETES_POD_INDEX: String(index),
  });
}

const holderOf = (worker: number): string | undefined =>
  api.leases.get(`leaf-leaf-worker-${worker}`)?.spec?.holderIdentity;

it('gives pods the workers of their numbers, and the replacement of a killed one another worker at once', async () => {
  const pods = await Promise.all([0, 1, 2].map((index) => startPod(index)));
  const workers = await Promise.all(pods.map((pod) => until('an ID', () => workerOf(pod.port), SOON_MS)));
  expect(workers).toEqual([0, 1, 2]);

  await pods[0]!.kill();
  const replacement = await startPod(0);
  const worker = await until('an ID of the replacement', () => workerOf(replacement.port), SOON_MS);
  expect([0, 1, 2]).not.toContain(worker);
  expect(holderOf(0)).toBeDefined();

  pods[1]!.signal('SIGTERM');
  expect(await pods[1]!.exit()).toMatchObject({ code: 0 });
  expect(holderOf(1)).toBeUndefined();
  const restarted = await startPod(1);
  expect(await until('an ID', () => workerOf(restarted.port), SOON_MS)).toBe(1);
});
