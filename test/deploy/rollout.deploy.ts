import { ensureBuilt } from '../support/build';
import { type Pod, Pods } from '../support/deploy/pods';
import { environmentOf, startSecureApi } from '../support/fakes/secure-kubernetes-api';
import type { KubernetesApi } from '../support/fakes/kubernetes-api';
import { Callers } from '../support/http/callers';
import { RoundRobinProxy } from '../support/http/round-robin-proxy';
import { workerOf } from '../support/http/worker-of';
import { readManifest } from '../support/manifests';
import { BuiltServers } from '../support/servers/built-server';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { ready } from '../support/servers/readiness';
import { settle } from '../support/servers/server-registries';
import { until } from '../support/until';

/** The settings are those of the rendered manifests; processes stand in for pods, and a proxy for the Service. */
const KILLS = Number(process.env['POD_KILLS'] ?? 5);
const REPLICAS = 3;
const CALLERS = 8;
const PATHS = ['/api/segment/get/leaf-segment-test', '/api/snowflake/get/order'];

let servers: BuiltServers;
let mariadb: MariadbServer;
let api: KubernetesApi;

beforeAll(async () => {
  [mariadb, api] = await Promise.all([startMariadb(), startSecureApi(), ensureBuilt()]);
});
beforeEach(() => (servers = new BuiltServers()));
afterEach(() => servers.end());
afterAll(() => Promise.all([mariadb.stop(), api.stop()]));

describe.each([
  ['deployment', 'database'],
  ['deployment-leases', 'kubernetes'],
])('the pods of deploy/kubernetes/%s.yaml', (name, registry) => {
  let pods: Pods;
  let running: Pod[];

  beforeEach(async () => {
    const url = await mariadb.createDatabase();
    await settle({ strategy: 'database', url, migrate: true });
    const secret = { 'database-url': url, 'admin-token': `ops:${'k9Lm2Qr7Tv4Wx8Zb'.repeat(2)}` };
    pods = new Pods(readManifest(name), servers, secret, registry === 'kubernetes' ? environmentOf(api) : {});
    running = await Promise.all(Array.from({ length: REPLICAS }, () => pods.start()));
    await Promise.all(running.map(waitUntilReady));
  });

  it('replace a killed one with another worker at once', async () => {
    const workers = new Set(await Promise.all(running.map(({ server }) => workerOf(server.port))));
    expect(workers.size).toBe(REPLICAS);
    const took: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const index = kill % REPLICAS;
      await running[index]!.server.kill();
      const killed = performance.now();
      const { server } = (running[index] = await pods.start());
      await server.listening();
      const worker = await until('an ID of the replacement', () => workerOf(server.port));
      took.push(performance.now() - killed);
      expect(workers).not.toContain(worker);
      workers.add(worker);
    }
    took.sort((a, b) => a - b);
    const [first, median, last] = [took[0]!, took[took.length >> 1]!, took.at(-1)!].map(Math.round);
    console.info(
      `${registry}: first ID of a replacement ${median} ms after the kill (${first} to ${last}, ${KILLS} kills)`,
    );
  });

  it('fail no request in a rolling update of all', async () => {
    expect(pods.spec.strategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const { periodSeconds, failureThreshold } = pods.readinessProbe;
    const service = await RoundRobinProxy.start({ periodMs: periodSeconds * 1000, failures: failureThreshold });
    await Promise.all(running.map(({ server, managementPort }) => service.add(server.port, managementPort)));
    const callers = new Callers(service.port, PATHS, CALLERS);

    const ends = await Promise.all(await rollOut(service));
    const { ids, failures } = await callers.stop();
    await service.stop();

    expect(ends.map(({ exit }) => exit)).toEqual(ends.map(() => ({ code: 0, signal: null })));
    const graceMs = 1000 * pods.spec.template.spec.terminationGracePeriodSeconds;
    for (const { stopMs } of ends) expect(stopMs).toBeLessThan(graceMs);
    expect([...failures, ...service.failures]).toStrictEqual([]);
    for (const [path, taken] of ids) {
      expect(new Set(taken).size).toBe(taken.length);
      expect(taken.length).toBeGreaterThan(100 * REPLICAS);
      console.info(`${registry}: ${taken.length} requests of ${path}, 0 failed`);
    }
  });

  /** Each new pod is ready before an old one gets SIGTERM; nobody waits for its end. */
  async function rollOut(service: RoundRobinProxy): Promise<Promise<{ exit: object; stopMs: number }>[]> {
    const ends: Promise<{ exit: object; stopMs: number }>[] = [];
    for (const { server: old } of running) {
      const { server, managementPort } = await pods.start();
      await service.add(await server.listening(), managementPort);
      const begun = performance.now();
      old.signal('SIGTERM');
      ends.push(old.exit().then((exit) => ({ exit, stopMs: performance.now() - begun })));
    }
    return ends;
  }
});

async function waitUntilReady({ server, managementPort }: Pod): Promise<void> {
  await server.listening();
  await ready(managementPort);
}
