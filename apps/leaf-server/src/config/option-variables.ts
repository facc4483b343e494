import type { VariableName } from './variables';

type VariableNames = VariableName | `${VariableName} ${'and' | 'or'} ${VariableName}`;

/** The variables that set the options of the libraries, for messages. */
export const OPTION_VARIABLES: Readonly<Record<string, VariableNames>> = {
  accept: 'LEAF_DATABASE_ACCEPT',
  database: 'LEAF_DATABASE_URL or LEAF_DATABASE_URLS',
  migrate: 'LEAF_DATABASE_MIGRATE',
  segment: 'LEAF_SEGMENT_ENABLED',
  'segment.database.shards': 'LEAF_DATABASE_URLS',
  'segment.database.shards.tags': 'LEAF_DATABASE_TAGS',
  snowflake: 'LEAF_SNOWFLAKE_ENABLED',
  'snowflake.horizonMs': 'LEAF_SNOWFLAKE_LEASE_TTL_MS',
  'snowflake.instance': 'LEAF_ADVERTISE_HOST or LEAF_ADVERTISE_PORT',
  'snowflake.instance.ip': 'LEAF_ADVERTISE_HOST',
  'snowflake.instance.port': 'LEAF_ADVERTISE_PORT',
  'snowflake.mostWindows': 'LEAF_WORKER_WINDOWS',
  'snowflake.layout': 'LEAF_SNOWFLAKE_BITS and LEAF_SNOWFLAKE_EPOCH',
  'snowflake.registry': 'LEAF_SNOWFLAKE_REGISTRY',
  'snowflake.registry.etcd.auth': 'LEAF_ETCD_AUTH',
  'snowflake.registry.etcd.endpoints': 'LEAF_ETCD_ENDPOINTS',
  'snowflake.registry.name': 'LEAF_NAME',
  'snowflake.registry.workers': 'LEAF_LOCAL_WORKERS',
  'snowflake.registry.zookeeper.address': 'LEAF_ZOOKEEPER',
  'snowflake.registry.zookeeper.auth': 'LEAF_ZOOKEEPER_AUTH',
};

const OPTION = /\bthe option ([a-z]\w*(?:\.\w+)*)/gi;

/** Plain data of the libraries, whose messages name options, with the names of variables in all of its strings. */
export function withVariables<Data>(data: Data): Data {
  return mapped(data) as Data;
}

function mapped(data: unknown): unknown {
  if (typeof data === 'string') {
    return data.replace(OPTION, (text, option: string) => OPTION_VARIABLES[option] ?? text);
  }
  if (Array.isArray(data)) return data.map(mapped);
  if (typeof data !== 'object' || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, mapped(value)]));
}
