import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../support/build';
import { KubernetesApi } from '../support/fakes/kubernetes-api';
import { call } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { settle } from '../support/servers/server-registries';
import { run } from '../support/servers/services';
import { requireTool } from '../support/tools';
import { until } from '../support/until';

const TTL_MS = 10_000;
/** Far less than the reserved time of a killed pod. */
const SOON_MS = 20_000;

const servers = new BuiltServers();
let api: KubernetesApi;
let directory: string;

beforeAll(async () => {
  await ensureBuilt();
  directory = await mkdtemp(join(tmpdir(), 'leaf-kubernetes-tls-'));
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
  const subject = ['-subj', '/CN=kubernetes', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await run(await requireTool('openssl'), [...request, ...subject]);
  api = await KubernetesApi.start({ cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') });
  await copyFile(cert, join(api.directory, 'ca.crt'));
  const access = { server: api.url, directory: api.directory };
  await settle({ strategy: 'kubernetes', kubernetes: access, name: 'leaf' });
});
afterEach(() => servers.end());
afterAll(async () => {
  await api.stop();
  await rm(directory, { recursive: true });
});

/** A pod of a StatefulSet. */
async function startPod(index: number, env: NodeJS.ProcessEnv = {}): Promise<BuiltServer> {
  return servers.start(await servers.makeDirectory(), {
    LEAF_SEGMENT_ENABLED: 'false',
    LEAF_SNOWFLAKE_REGISTRY: 'kubernetes',
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(api.port),
    LEAF_KUBERNETES_DIR: api.directory,
    LEAF_KUBERNETES_POD_INDEX: String(index),
    ...env,
  });
}

/** The worker of its next ID; undefined while it refuses. */
async function workerOf({ port }: BuiltServer): Promise<number | undefined> {
  const { status, body } = await call(port, '/api/snowflake/get/x');
  if (status !== 200) return undefined;
  const decoded = await call(port, `/api/snowflake/decode/${body}`);
  return (JSON.parse(decoded.body) as { workerId: number }).workerId;
}

const holderOf = (worker: number): string | undefined =>
  api.leases.get(`leaf-leaf-worker-${worker}`)?.spec?.holderIdentity;

it('gives pods the workers of their numbers, and the replacement of a killed one another worker at once', async () => {
  const pods = await Promise.all([0, 1, 2].map((index) => startPod(index)));
  const workers = await Promise.all(pods.map((pod) => until('an ID', () => workerOf(pod), SOON_MS)));
  expect(workers).toEqual([0, 1, 2]);

  await pods[0]!.kill();
  const replacement = await startPod(0);
  const worker = await until('an ID of the replacement', () => workerOf(replacement), SOON_MS);
  expect([0, 1, 2]).not.toContain(worker);
  expect(holderOf(0)).toBeDefined();

  pods[1]!.signal('SIGTERM');
  expect(await pods[1]!.exit()).toMatchObject({ code: 0 });
  expect(holderOf(1)).toBeUndefined();
  const restarted = await startPod(1);
  expect(await until('an ID', () => workerOf(restarted), SOON_MS)).toBe(1);
});

it('issues up to the reserved time without the API server, then refuses, and goes on when it is back', async () => {
  const pod = await startPod(5, { LEAF_SNOWFLAKE_REPORT_MS: '1000', LEAF_SNOWFLAKE_LEASE_TTL_MS: String(TTL_MS) });
  const worker = await until('an ID', () => workerOf(pod), SOON_MS);
  api.away = true;
  const began = performance.now();
  expect(await workerOf(pod)).toBe(worker);
  await until('a refusal', async () => (await workerOf(pod)) === undefined, 2 * SOON_MS);
  expect(performance.now() - began).toBeGreaterThan(TTL_MS / 2);
  expect(problemCode(await call(pod.port, '/api/snowflake/get/x'))).toBe('LEAF_LEASE_EXPIRED');
  api.away = false;
  expect(await until('an ID again', () => workerOf(pod), SOON_MS)).toBe(worker);
});
