import { SystemClock, type WorkerStore } from '@leaf-ids/core';
import { defaultLayout, systemRandom } from '@leaf-ids/core/internal';
import type { RegistryOptions } from '@leaf-ids/registry';
import { strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { ensureBuilt } from '../../support/build';
import { environmentOf, startSecureApi } from '../../support/fakes/secure-kubernetes-api';
import { givenTwice } from '../../support/issued-ids';
import { BuiltServers } from '../../support/servers/built-server';
import { startCluster } from '../../support/servers/etcd';
import { settle } from '../../support/servers/server-registries';
import { SnowflakeLoad } from '../../support/servers/snowflake-load';
import { until } from '../../support/until';

/** How long the registry is away; a minute shows what an operator sees. */
const AWAY_MS = Number(process.env.LEAF_TEST_AWAY_MS ?? 13_000);
/** At least what the setting allows. */
const TTL_MS = Math.max(10_000, AWAY_MS / 2);
const REPORT_MS = 500;
/** How soon the server issues IDs again, on a busy machine. */
const BACK_LIMIT_MS = 30_000;
const MANY = 10_000;

interface AwayRegistry {
  readonly options: RegistryOptions;
  readonly env: NodeJS.ProcessEnv;
  /** Takes the registry away; the result brings it back. */
  readonly leave: () => Promise<() => Promise<unknown>>;
  readonly stop: () => Promise<void>;
}

async function startEtcd(how: 'kill' | 'suspend'): Promise<AwayRegistry> {
  const cluster = await startCluster(3);
  const all = (act: 'kill' | 'suspend' | 'restart' | 'resume') => () =>
    Promise.all(cluster.servers.map((server) => server[act]()));
  return {
    options: { strategy: 'etcd', etcd: { endpoints: cluster.endpoints }, name: 'leaf' },
    env: { LEAF_SNOWFLAKE_REGISTRY: 'etcd', LEAF_ETCD_ENDPOINTS: cluster.endpoints },
    leave: async () => {
      await all(how)();
      return all(how === 'kill' ? 'restart' : 'resume');
    },
    stop: () => cluster.stop(),
  };
}

async function startKubernetes(): Promise<AwayRegistry> {
  const api = await startSecureApi();
  return {
    options: { strategy: 'kubernetes', kubernetes: { server: api.url, directory: api.directory }, name: 'leaf' },
    env: { LEAF_SNOWFLAKE_REGISTRY: 'kubernetes', ...environmentOf(api) },
    leave: () => {
      api.away = true;
      return Promise.resolve(() => Promise.resolve((api.away = false)));
    },
    stop: () => api.stop(),
  };
}

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

it.each([
  ['etcd is killed', () => startEtcd('kill')],
  ['etcd is suspended', () => startEtcd('suspend')],
  ['the API server of Kubernetes is away', startKubernetes],
])(
  'a server issues up to the reserved time while %s, then refuses, and goes on when it is back',
  async (name, start) => {
    const { options, env, leave, stop } = await start();
    const context = { clock: new SystemClock(), random: systemRandom, onCloseProblem: () => undefined };
    // Reads of this process may wait for a busy machine.
    const store: WorkerStore = strategyOf(options).create(context).store;
    try {
      await settle(options);
      const server = await servers.start(await servers.makeDirectory(), {
        LEAF_SEGMENT_ENABLED: 'false',
        LEAF_SNOWFLAKE_REPORT_MS: String(REPORT_MS),
        LEAF_SNOWFLAKE_LEASE_TTL_MS: String(TTL_MS),
        ...env,
      });
      const load = new SnowflakeLoad(server.port);
      await until('load', () => load.count > MANY);

      const comeBack = await leave();
      const leftAt = Date.now();
      await until('refusals', () => load.refusals.has('LEAF_LEASE_EXPIRED'), 2 * TTL_MS + BACK_LIMIT_MS);
      const refusedAt = Date.now();
      // What was issued before may be on its way to others.
      await until('a refusal of each caller', () => load.everyCallerWasRefused);
      const served = load.count;
      const { timestamp: last, workerId } = defaultLayout().decompose(load.bounds.highest);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, AWAY_MS - (Date.now() - leftAt))));
      expect(load.count).toBe(served);
      expect([...load.refusals.keys()]).toEqual(['LEAF_LEASE_EXPIRED']);

      await comeBack();
      const backAt = Date.now();
      await until('IDs again', () => load.count > served, BACK_LIMIT_MS);
      const issuedAgainMs = Date.now() - backAt;
      await until('load', () => load.count > served + MANY);
      await load.end();
      const [record] = await store.list();
      expect(record).toMatchObject({ workerId, record: { free: false } });
      expect([load.workers, load.breaks, load.descents]).toEqual([new Set([workerId]), [], []]);
      expect(givenTwice(load.ranges)).toStrictEqual([]);
      // It has used the reserved time, and no more.
      expect(last - leftAt).toBeLessThanOrEqual(TTL_MS);
      expect(refusedAt - leftAt).toBeGreaterThan(TTL_MS / 2);
      process.stdout.write(
        `${name} for ${backAt - leftAt} ms, ${TTL_MS} ms reserved: ${served} IDs, the last ${last - leftAt} ms after ` +
          `the begin; refused from ${refusedAt - leftAt} ms on; issued again ${issuedAgainMs} ms after the end\n`,
      );
    } finally {
      await store.close();
      await stop();
    }
  },
  AWAY_MS + 4 * BACK_LIMIT_MS,
);
