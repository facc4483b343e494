import { join } from 'node:path';
import { environmentOf, startSecureApi } from '../support/fakes/secure-kubernetes-api';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { startEtcd } from '../support/servers/etcd';
import { startMariadb } from '../support/servers/mariadb';
import { startPostgres } from '../support/servers/postgres';
import { startZookeeper } from '../support/servers/zookeeper';
import { requireZookeeperClient } from '../support/servers/zookeeper-client';

/** A database and a registry that servers share. */
export interface Place {
  /** Of the segments. */
  readonly url: string;
  /** Settings of the server with this number. */
  readonly env: (server: number, directory: string) => NodeJS.ProcessEnv;
  /** The option `snowflake` of an application, whose worker ID is another one than those of the servers. */
  readonly snowflake: object;
  /** One data directory for all servers. */
  readonly shared?: string;
  readonly stop: () => Promise<unknown>;
}

const ENGINES = { mariadb: startMariadb, postgres: startPostgres } as const;
type Engine = keyof typeof ENGINES;

/** The name that all registries have by default. */
const NAME = 'leaf';
const LOCAL_WORKER = 9;
/** The identity of an application, for registries that have one record for each `ip:port`. */
const INSTANCE = { ip: '127.0.0.1', port: 9 };

interface Registry {
  readonly env: NodeJS.ProcessEnv;
  readonly snowflake: object;
  readonly stop?: () => Promise<unknown>;
}

const REGISTRIES = {
  database: () => Promise.resolve({ env: {}, snowflake: {} }),
  mysql: () => Promise.resolve({ env: {}, snowflake: { registry: 'mysql', instance: INSTANCE } }),
  zk_normal: () => zookeeper('zk_normal'),
  zk_recycle: () => zookeeper('zk_recycle'),
  etcd: async () => {
    const server = await startEtcd();
    const registry = { strategy: 'etcd', etcd: { endpoints: server.endpoint }, name: NAME };
    return { env: { LEAF_ETCD_ENDPOINTS: server.endpoint }, snowflake: { registry }, stop: () => server.stop() };
  },
  kubernetes: async () => {
    const api = await startSecureApi();
    // The versions under test create the registry.
    api.wipe();
    const registry = { strategy: 'kubernetes', kubernetes: { server: api.url, directory: api.directory }, name: NAME };
    return { env: environmentOf(api), snowflake: { registry }, stop: () => api.stop() };
  },
} satisfies Record<string, () => Promise<Registry>>;
type RegistryName = keyof typeof REGISTRIES;

async function zookeeper(strategy: 'zk_normal' | 'zk_recycle'): Promise<Registry> {
  await requireZookeeperClient();
  const server = await startZookeeper();
  const address = await server.createDatabase();
  const registry = { strategy, zookeeper: { address }, name: NAME };
  return {
    env: { LEAF_ZOOKEEPER: address },
    snowflake: { registry, ...(strategy === 'zk_normal' && { instance: INSTANCE }) },
    stop: () => server.stop(),
  };
}

async function onServer(engine: Engine, name: RegistryName): Promise<Place> {
  const database = await ENGINES[engine]();
  const { env, snowflake, stop }: Registry = await REGISTRIES[name]();
  const url = await database.createDatabase();
  return {
    url,
    env: () => ({ LEAF_DATABASE_URL: url, LEAF_SNOWFLAKE_REGISTRY: name, ...env }),
    snowflake,
    stop: () => Promise.all([database.stop(), stop?.()]),
  };
}

/** Servers of one host share the file of the tags; each has a worker ID of its own. */
async function onSqlite(): Promise<Place> {
  const shared = await makeDataDirectory();
  const registry = { strategy: 'local', workers: { '*': LOCAL_WORKER }, directory: join(shared, NAME) };
  return {
    url: `sqlite:${join(shared, 'leaf.sqlite')}`,
    env: (server) => ({ LEAF_SNOWFLAKE_REGISTRY: 'local', LEAF_LOCAL_WORKERS: `{"*":${server}}` }),
    snowflake: { registry },
    shared,
    stop: () => removeDataDirectory(shared),
  };
}

export interface Pair {
  readonly name: string;
  /** Whether clients can get windows of worker IDs. */
  readonly windows: boolean;
  readonly open: () => Promise<Place>;
}

export const PAIRS: readonly Pair[] = [
  { name: 'sqlite+local', windows: false, open: onSqlite },
  pair('mariadb', 'mysql', false),
  pair('mariadb', 'database', true),
  pair('postgres', 'database', true),
  pair('mariadb', 'zk_normal', false),
  pair('mariadb', 'zk_recycle', true),
  pair('postgres', 'etcd', true),
  pair('postgres', 'kubernetes', true),
];

function pair(engine: Engine, registry: RegistryName, windows: boolean): Pair {
  return { name: `${engine}+${registry}`, windows, open: () => onServer(engine, registry) };
}
