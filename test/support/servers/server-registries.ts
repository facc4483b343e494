import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Clock, SystemClock, type WorkerStore } from '@leaf-ids/core';
import { defaultLayout, systemRandom } from '@leaf-ids/core/internal';
import type { RegistryOptions } from '@leaf-ids/registry';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect as connectDatabase } from '../contract/sql-stores';
import { openSession } from '../contract/zk-stores';
import { RegistryMemory } from '../../../libs/core/src/worker/registry/registry-memory';
import { strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { startEtcd } from './etcd';
import { startMariadb } from './mariadb';
import { startZookeeper } from './zookeeper';
import { requireZookeeperClient } from './zookeeper-client';

/** A registry past its grace period, without records, for servers in separate processes. */
export interface ServerRegistry {
  /** Settings of a server that uses it. */
  readonly env: NodeJS.ProcessEnv;
  /** The highest ceiling that is recorded, in Unix ms. `directory` is the data directory of the server. */
  readonly ceiling: (directory: string) => Promise<number>;
}

export interface RegistryHost {
  readonly open: () => Promise<ServerRegistry>;
  readonly stop: () => Promise<void>;
}

/** A host that counts the changes of data in all of its registries. */
export interface CountingHost extends RegistryHost {
  readonly writes: () => Promise<number>;
}

export interface RegistryCase<Host extends RegistryHost = RegistryHost> {
  readonly name: string;
  /** A worker ID stays with its `ip:port`; otherwise a start after a crash gets another one, at once. */
  readonly keepsWorker: boolean;
  readonly start: () => Promise<Host>;
}

const NAME = 'leaf';

const LOCAL: RegistryCase = {
  name: 'local',
  keepsWorker: true,
  start: () => Promise.resolve({ open: () => Promise.resolve(localRegistry()), stop: () => Promise.resolve() }),
};

export const MYSQL: RegistryCase<CountingHost> = {
  name: 'mysql',
  keepsWorker: true,
  start: () => startDatabaseHost('mysql', 'leaf_workerid_alloc'),
};

export const ZK_NORMAL: RegistryCase<CountingHost> = {
  name: 'zk_normal',
  keepsWorker: true,
  start: () => startZookeeperHost('zk_normal', 'forever'),
};

export const SERVER_REGISTRIES: readonly RegistryCase[] = [
  LOCAL,
  { name: 'database', keepsWorker: false, start: () => startDatabaseHost('database', 'leaf_worker_pool') },
  MYSQL,
  ZK_NORMAL,
  { name: 'zk_recycle', keepsWorker: false, start: () => startZookeeperHost('zk_recycle', 'recycle/workers') },
  { name: 'etcd', keepsWorker: false, start: startEtcdHost },
];

function localRegistry(): ServerRegistry {
  return {
    env: { LEAF_SNOWFLAKE_REGISTRY: 'local' },
    ceiling: async (directory) => timestampOf(await readFile(join(directory, NAME, 'worker-0/workerID.json'), 'utf8')),
  };
}

async function startDatabaseHost(strategy: 'database' | 'mysql', workers: string): Promise<CountingHost> {
  const mariadb = await startMariadb();
  const open = async (): Promise<ServerRegistry> => {
    const url = await mariadb.createDatabase();
    const place = { url, migrate: true };
    await settle(strategy === 'mysql' ? { strategy, ...place } : { strategy, ...place });
    const table = `${url.slice(url.lastIndexOf('/') + 1)}.${workers}`;
    return {
      env: { LEAF_SNOWFLAKE_REGISTRY: strategy, LEAF_DATABASE_URL: url },
      ceiling: async () => Number((await mariadb.query(`SELECT MAX(max_timestamp) AS t FROM ${table}`))[0]?.t),
    };
  };
  const status = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_insert', 'Com_update', 'Com_delete')";
  const writes = async (): Promise<number> =>
    (await mariadb.query(status)).reduce((sum, row) => sum + Number(row.Value), 0);
  return { open, writes, stop: () => mariadb.stop() };
}

async function startZookeeperHost(strategy: 'zk_normal' | 'zk_recycle', folder: string): Promise<CountingHost> {
  await requireZookeeperClient();
  const zookeeper = await startZookeeper();
  const open = async (): Promise<ServerRegistry> => {
    const database = await zookeeper.createDatabase();
    await settle({ strategy, zookeeper: { address: database }, name: NAME });
    return {
      env: { LEAF_SNOWFLAKE_REGISTRY: strategy, LEAF_ZOOKEEPER: database },
      ceiling: () => highestCeiling(database, `/snowflake/${NAME}/${folder}`),
    };
  };
  return { open, writes: () => transactions(zookeeper.port), stop: () => zookeeper.stop() };
}

async function startEtcdHost(): Promise<RegistryHost> {
  const etcd = await startEtcd();
  const open = async (): Promise<ServerRegistry> => {
    await etcd.deleteKeys('/leaf/');
    const options = { strategy: 'etcd', etcd: { endpoints: etcd.endpoint }, name: NAME } as const;
    await settle(options);
    return {
      env: { LEAF_SNOWFLAKE_REGISTRY: 'etcd', LEAF_ETCD_ENDPOINTS: etcd.endpoint },
      ceiling: async () => {
        const records = await withStore(options, (store) => store.list());
        return Math.max(...records.map(({ record }) => record.ceiling));
      },
    };
  };
  return { open, stop: () => etcd.stop() };
}

/** Creates a registry whose grace period has passed, so that servers start without a wait. */
export async function settle(options: RegistryOptions): Promise<void> {
  // With a first tag, as the first server creates it.
  if ('url' in options && 'migrate' in options) await (await connectDatabase(parseDatabaseUrl(options.url))).destroy();
  const { fingerprint: layout } = defaultLayout();
  const memory = {
    strategy: options.strategy,
    layout,
    leaseTtlMs: 0,
    continues: false,
    graceMs: () => 0,
    clockOffsetMs: 5000,
    newId: () => 'settled',
  };
  await withStore(options, (store, clock) => new RegistryMemory(store, clock, memory).open());
}

async function withStore<T>(
  options: RegistryOptions,
  act: (store: WorkerStore, clock: Clock) => Promise<T>,
): Promise<T> {
  const clock = new SystemClock();
  const { store } = strategyOf(options).create({ clock, random: systemRandom, onCloseProblem: () => undefined });
  try {
    return await act(store, clock);
  } finally {
    await store.close();
  }
}

async function highestCeiling(database: string, root: string): Promise<number> {
  const session = openSession(database);
  try {
    const names = await session.children(root);
    const nodes = await Promise.all(names.map((name) => session.getData(`${root}/${name}`)));
    return Math.max(...nodes.map((node) => timestampOf(node?.data ?? '{}')));
  } finally {
    await session.close();
  }
}

/** Each change of data has a number; reads and pings have none. */
function transactions(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('srvr'));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(/^Zxid: (0x[\da-f]+)$/m.exec(answer)?.[1])));
  });
}

function timestampOf(text: string): number {
  const { timestamp, ceiling } = JSON.parse(text) as { timestamp?: number; ceiling?: number };
  return timestamp ?? ceiling ?? NaN;
}
