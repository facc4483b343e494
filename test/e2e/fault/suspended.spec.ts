import type { Instance } from '@leaf-ids/core';
import type { RegistryOptions } from '@leaf-ids/registry';
import { ensureBuilt } from '../../support/build';
import { KubernetesApi } from '../../support/fakes/kubernetes-api';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startEtcd } from '../../support/servers/etcd';
import { shiftedClock } from '../../support/servers/faketime';
import { LeaseHolder } from '../../support/servers/lease-holder';
import { startMariadb } from '../../support/servers/mariadb';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { startZookeeper } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';

const ROUNDS = Number(process.env.LEAF_TEST_ROUNDS ?? 4);
const ROUND_LIMIT_MS = 20_000;
/** Short, so that the rounds are; but a clock is compared over requests that wait on a busy machine. */
const LIMITS = {
  ...{ leaseTtlMs: 1100, reportMs: 100, maxClockOffsetMs: 1000 },
  limits: { reportMs: 100, clockOffsetMs: 1000 },
};
const TWIN: Instance = { ip: '10.0.0.7', port: 8080 };
/** After this, `zk_recycle` counts a worker as given up whose time has passed. */
const RECYCLE_MARGIN_MS = 60_000;
/** At most so many IDs are waited for before the holder is suspended: somewhere between two reports. */
const MOMENTS = 100_000;
const ZOOKEEPER = { name: 'leaf' };

interface SuspendedService {
  readonly port: number;
  /** The URL of an empty registry. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

interface SuspendedCase {
  readonly name: string;
  readonly start: () => Promise<SuspendedService>;
  /** `fileDirectory` is that of one process: the twins are on two hosts. */
  readonly options: (database: string, fileDirectory: string) => RegistryOptions;
  readonly instance: (round: number) => Instance;
  /** How far the clock of the holder of a round is ahead. */
  readonly aheadMs: (round: number) => number;
  readonly maxWorkerId?: number;
  /** Why a holder issues no more whose worker another one has. */
  readonly loss: string;
}

const ANY = { instance: () => TWIN, aheadMs: () => 0, loss: 'LEAF_LEASE_LOST' };

/** One worker, so that the next holder has to take this one. */
const POOL = {
  maxWorkerId: 0,
  loss: 'GIVEN_AWAY',
  instance: (round: number) => ({ ...TWIN, port: TWIN.port + round }),
  aheadMs: () => 0,
};

const CASES: readonly SuspendedCase[] = [
  {
    name: 'mysql',
    start: startMariadb,
    options: (url, fileDirectory) => ({ strategy: 'mysql', url, migrate: true, fileDirectory }),
    ...ANY,
  },
  {
    name: 'zk_normal',
    start: startZookeeper,
    options: (address, fileDirectory) => ({
      strategy: 'zk_normal',
      zookeeper: { address },
      ...ZOOKEEPER,
      fileDirectory,
    }),
    ...ANY,
  },
  {
    ...POOL,
    name: 'zk_recycle',
    start: startZookeeper,
    options: (address) => ({ strategy: 'zk_recycle', zookeeper: { address }, ...ZOOKEEPER }),
    // Not to have to wait for the margin: the clocks may say what they like.
    aheadMs: (round) => round * RECYCLE_MARGIN_MS,
  },
  {
    ...POOL,
    name: 'etcd',
    start: startEtcdKeys,
    options: (endpoints) => ({ strategy: 'etcd', etcd: { endpoints }, name: 'leaf' }),
  },
  {
    ...POOL,
    name: 'kubernetes',
    start: startLeases,
    options: (database) => {
      const { origin: server, searchParams } = new URL(database);
      const directory = searchParams.get('directory')!;
      return { strategy: 'kubernetes', kubernetes: { server, directory }, name: 'leaf' };
    },
  },
];

/** Its keys are removed before each test. */
async function startEtcdKeys(): Promise<SuspendedService> {
  const etcd = await startEtcd();
  const createDatabase = async (): Promise<string> => {
    await etcd.deleteKeys('/leaf/');
    return `${etcd.endpoint}/`;
  };
  return { port: etcd.port, createDatabase, stop: () => etcd.stop() };
}

async function startLeases(): Promise<SuspendedService> {
  const api = await KubernetesApi.start();
  const createDatabase = (): Promise<string> => {
    api.wipe();
    return Promise.resolve(`${api.url}/?directory=${encodeURIComponent(api.directory)}`);
  };
  return { port: api.port, createDatabase, stop: () => api.stop() };
}

beforeAll(() => Promise.all([ensureBuilt(), requireZookeeperClient()]));

describe.each(CASES)(
  'a suspended holder of a worker of $name',
  ({ start, options, instance, aheadMs, maxWorkerId = 1023, loss }) => {
    const holders = new Set<LeaseHolder>();
    let service: Awaited<ReturnType<typeof start>>;
    let database: string;
    let directory: string;

    beforeAll(async () => {
      service = await start();
    });
    afterAll(() => service.stop());
    beforeEach(async () => {
      [database, directory] = await Promise.all([service.createDatabase(), makeDataDirectory()]);
    });
    afterEach(async () => {
      await Promise.all([...holders].map((holder) => holder.kill()));
      holders.clear();
      await removeDataDirectory(directory);
    });

    async function connect(round: number, hosts = database): Promise<LeaseHolder> {
      const ahead = aheadMs(round);
      const holder = LeaseHolder.spawn(
        {
          registry: { ...LIMITS, maxWorkerId, registry: options(hosts, `${directory}/${round}`) },
          instance: instance(round),
        },
        ahead > 0 ? await shiftedClock(ahead) : {},
      );
      holders.add(holder);
      await holder.connected();
      return holder;
    }

    async function end(holder: LeaseHolder): Promise<void> {
      await holder.kill();
      holders.delete(holder);
      expect(holder.disorder).toStrictEqual([]);
    }

    /** None of their IDs can be the same then: within one process they ascend. */
    function expectApart(old: LeaseHolder, fence: number, next: LeaseHolder): void {
      expect(old.highest).toBeLessThanOrEqual(fence);
      expect(next.lowest).toBeGreaterThan(fence);
      expect(old.lost).toBe(loss);
    }

    it(
      'issues nothing above the fence of the next one',
      async () => {
        const began = performance.now();
        let old = await connect(0);
        await old.acquire();
        let ids = 0;
        let closest = Infinity;
        for (let round = 1; round <= ROUNDS; round++) {
          const next = await connect(round);
          await old.issues(1 + Math.floor(Math.random() * MOMENTS));
          old.signal('SIGSTOP');
          const { floor } = await next.acquire();
          // Its time begins where that of the suspended one ends.
          await next.issues(1);
          old.signal('SIGCONT');
          await old.losing(floor);
          await end(old);

          expectApart(old, floor, next);
          closest = Math.min(closest, floor - old.highest);
          ids += old.count;
          old = next;
        }
        await end(old);
        process.stdout.write(
          `${expect.getState().currentTestName}: ${ROUNDS} rounds in ${Math.round(performance.now() - began)} ms, ` +
            `${ids + old.count} IDs, none above the fence (closest ${closest} ms below it), none twice\n`,
        );
      },
      ROUND_LIMIT_MS * (ROUNDS + 1),
    );

    it('issues nothing above it either when its connection broke meanwhile', async () => {
      const proxy = await TcpProxy.start(service.port);
      try {
        const old = await connect(0, database.replace(`:${service.port}/`, `:${proxy.port}/`));
        await old.acquire();
        const next = await connect(1);
        await old.issues(MOMENTS);
        old.signal('SIGSTOP');
        const { floor } = await next.acquire();
        await next.issues(1);
        proxy.cut();
        old.signal('SIGCONT');
        await old.losing(floor);
        await Promise.all([end(old), end(next)]);

        expectApart(old, floor, next);
      } finally {
        await proxy.stop();
      }
    });
  },
);
