import { isIP } from 'node:net';
import { isLoopback, type WorkerRange, workersIn } from '@leaf-ids/core/internal';
import { workerRangeOf } from '@leaf-ids/id/internal';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { policyOf } from '@leaf-ids/registry';
import { limitOf } from './id-options';
import { isWildcard } from './resolved';
import { ANY } from './tokens';
import type { Resolved } from './variables';

/** Faults that show only when settings are seen together. */
export function contradictions(values: Resolved, env: NodeJS.ProcessEnv): string[] {
  return [
    ...modeFaults(values),
    ...leaseTtlFaults(values),
    ...localWorkerFaults(values),
    ...processFaults(values),
    ...portFaults(values),
    ...shardFaults(values, env),
    ...sharedWorkers(values, env),
    ...unsharedDatabases(values, env),
    ...loopbackFaults(values, env),
    ...movedFaults(values, env),
    ...clientFaults(values),
    ...sharedTokens(values),
  ];
}

function modeFaults(values: Resolved): string[] {
  return values.LEAF_SEGMENT_ENABLED || values.LEAF_SNOWFLAKE_ENABLED
    ? []
    : ['LEAF_SEGMENT_ENABLED and LEAF_SNOWFLAKE_ENABLED are both false: switch at least one on'];
}

function leaseTtlFaults(values: Resolved): string[] {
  if (!values.LEAF_SNOWFLAKE_ENABLED) return [];
  const { LEAF_SNOWFLAKE_REGISTRY: registry, LEAF_SNOWFLAKE_LEASE_TTL_MS: ttlMs } = values;
  const [low, high] = policyOf(registry) === 'pool' ? [10_000, 86_400_000] : [1000, 3_600_000];
  if (ttlMs >= low && ttlMs <= high) return [];
  return [`LEAF_SNOWFLAKE_LEASE_TTL_MS must be from ${low} to ${high} with the registry ${registry}, not ${ttlMs}`];
}

/** The worker IDs that this server can have. */
function workersOf(values: Resolved): WorkerRange {
  return workerRangeOf(limitOf(values)) ?? { first: 0, last: 2 ** values.LEAF_SNOWFLAKE_BITS.workerBits - 1 };
}

/** Each process needs a worker ID; the others would never be ready. */
function processFaults(values: Resolved): string[] {
  const { LEAF_PROCESSES: processes, LEAF_SNOWFLAKE_REGISTRY: registry } = values;
  // The rule for the map of workers says it more precisely.
  if (!values.LEAF_SNOWFLAKE_ENABLED || registry === 'local') return [];
  const range = workersOf(values);
  const { first, last } = range;
  if (processes <= workersIn(range)) return [];
  return [
    `LEAF_PROCESSES must be at most ${workersIn(range)}, not ${processes}: this server can have only the worker IDs ${first} to ${last}, one for each process`,
  ];
}

/**
 * The first process of a server has the worker ID of its entry, the others those that follow. The rule of the registry
 * knows one process.
 */
function localWorkerFaults(values: Resolved): string[] {
  const { LEAF_LOCAL_WORKERS: workers, LEAF_PROCESSES: processes } = values;
  if (!values.LEAF_SNOWFLAKE_ENABLED || values.LEAF_SNOWFLAKE_REGISTRY !== 'local') return [];
  const entries = Object.entries(workers).sort(([, a], [, b]) => a - b);
  const highest = (entries.at(-1)?.[1] ?? 0) + processes - 1;
  const { first, last } = workersOf(values);
  const faults: string[] = [];
  if (processes > 1 && highest > last) {
    faults.push(
      `LEAF_LOCAL_WORKERS gives worker IDs up to ${highest} with ${processes} processes, but this server can have only ${first} to ${last}`,
    );
  }
  const index = entries.findIndex(([, id], at) => id < (entries[at - 1]?.[1] ?? -Infinity) + processes);
  const [before, after] = [entries[index - 1], entries[index]];
  if (before !== undefined && after !== undefined) {
    const apart = Object.fromEntries(entries.map(([instance], at) => [instance, at * processes]));
    faults.push(
      `LEAF_LOCAL_WORKERS gives ${after[0]} worker ID ${after[1]}, which a process of ${before[0]} uses: LEAF_PROCESSES=${processes} takes ${before[1]} to ${before[1] + processes - 1}. Leave a range for the processes of each server, for example ${JSON.stringify(apart)}`,
    );
  }
  return faults;
}

function portFaults(values: Resolved): string[] {
  const { LEAF_PORT: port, LEAF_MANAGEMENT_PORT: management, LEAF_RESP_PORT: resp } = values;
  const faults: string[] = [];
  if (management === port && port !== 0) faults.push('LEAF_MANAGEMENT_PORT must differ from LEAF_PORT');
  if (resp !== undefined && resp !== 0 && (resp === port || resp === management)) {
    faults.push('LEAF_RESP_PORT must differ from LEAF_PORT and LEAF_MANAGEMENT_PORT');
  }
  if ((values.LEAF_RESP_TLS_CERT_FILE === undefined) !== (values.LEAF_RESP_TLS_KEY_FILE === undefined)) {
    faults.push('LEAF_RESP_TLS_CERT_FILE and LEAF_RESP_TLS_KEY_FILE must be set together');
  }
  return faults;
}

function shardFaults(values: Resolved, env: NodeJS.ProcessEnv): string[] {
  const { LEAF_DATABASE_URLS: databases, LEAF_DATABASE_TAGS: tags = {}, LEAF_SNOWFLAKE_REGISTRY: registry } = values;
  if (databases === undefined) {
    return Object.keys(tags).length > 0 ? ['LEAF_DATABASE_TAGS needs LEAF_DATABASE_URLS, which is not set'] : [];
  }
  if (!values.LEAF_SNOWFLAKE_ENABLED || !isInDatabase(registry) || env.LEAF_DATABASE_URL) return [];
  return [
    `LEAF_DATABASE_URL must name the one database of the registry ${registry} beside LEAF_DATABASE_URLS: without it, each server would have a registry of its own`,
  ];
}

/** Servers on one database that were never told their worker IDs would all be worker 0. */
function sharedWorkers(values: Resolved, env: NodeJS.ProcessEnv): string[] {
  if (!values.LEAF_SNOWFLAKE_ENABLED || !values.LEAF_SEGMENT_ENABLED) return [];
  if (values.LEAF_SNOWFLAKE_REGISTRY !== 'local') return [];
  const { LEAF_DATABASE_URL: url, LEAF_DATABASE_URLS: several } = values;
  if (Object.values(several ?? { url }).every(isFile) || env.LEAF_LOCAL_WORKERS) return [];
  return [
    'LEAF_LOCAL_WORKERS must be set beside a database that several servers can share: {"10.0.0.7:8080":0,"10.0.0.8:8080":1} gives each its worker ID, {"*":0} says that this is the only server; or choose a registry that servers share in LEAF_SNOWFLAKE_REGISTRY',
  ];
}

function isInDatabase(registry: string | undefined): boolean {
  return registry === 'database' || registry === 'mysql';
}

function isFile(url: string): boolean {
  return 'file' in parseDatabaseUrl(url);
}

/** Whether servers on other hosts can use the same worker registry. */
function sharesRegistry(values: Resolved): boolean {
  const { LEAF_SNOWFLAKE_REGISTRY: registry } = values;
  if (!values.LEAF_SNOWFLAKE_ENABLED || registry === 'local') return false;
  return !isInDatabase(registry) || !isFile(values.LEAF_DATABASE_URL);
}

function loopbackFaults(values: Resolved, env: NodeJS.ProcessEnv): string[] {
  const { LEAF_ADVERTISE_HOST: address, LEAF_SNOWFLAKE_REGISTRY: registry } = values;
  if (env.LEAF_ADVERTISE_HOST || !isLoopback(address) || !sharesRegistry(values)) return [];
  return [
    `LEAF_ADVERTISE_HOST must be set beside the registry ${registry}, which servers share: this host has no address that others reach, and two servers that advertise ${address} are one server to the registry. Set the address of this server, or ${address} if all servers run on this host`,
  ];
}

/** A warning when the registry sends other servers to an address on which HTTP does not listen. */
export function unreachableHost(values: Resolved, env: NodeJS.ProcessEnv): string[] {
  const { LEAF_HOST: host, LEAF_ADVERTISE_HOST: advertised } = values;
  if (env.LEAF_ADVERTISE_HOST || isIP(host) === 0 || isWildcard(host) || host === advertised) return [];
  if (!sharesRegistry(values)) return [];
  return [
    `The address of this server in the worker registry is ${advertised}, but HTTP listens only on ${host}: set LEAF_ADVERTISE_HOST to an address at which other servers reach this one.`,
  ];
}

/**
 * Servers that share worker IDs share tags, and the other way round. An embedded database belongs to one host: a registry
 * that other hosts reach must not stand beside one, or each host would issue the segment IDs 1, 2, 3.
 */
function unsharedDatabases(values: Resolved, env: NodeJS.ProcessEnv): string[] {
  const { LEAF_SNOWFLAKE_REGISTRY: registry, LEAF_DATABASE_URL: url, LEAF_DATABASE_URLS: several } = values;
  if (!values.LEAF_SNOWFLAKE_ENABLED || registry === 'local') return [];
  if (!values.LEAF_SEGMENT_ENABLED && !isInDatabase(registry)) return [];
  if (!env.LEAF_DATABASE_URL && several === undefined) {
    // `movedFaults` reports it. By default, the registry is a file beside the embedded database.
    if (values.LEAF_PROPERTIES_FILE !== undefined || !env.LEAF_SNOWFLAKE_REGISTRY) return [];
    return [
      `LEAF_DATABASE_URL must be set beside the registry ${registry}, which servers share: without it, each server would use an embedded database of its own and issue the same IDs. Name a database server, or use LEAF_SNOWFLAKE_REGISTRY=local for a single server`,
    ];
  }
  const registryIsFile = !sharesRegistry(values);
  const segments = values.LEAF_SEGMENT_ENABLED ? Object.values(several ?? { url }) : [];
  if (segments.every((text) => isFile(text) === registryIsFile)) return [];
  const name = several === undefined ? 'LEAF_DATABASE_URL' : 'LEAF_DATABASE_URLS';
  return [
    registryIsFile
      ? `LEAF_DATABASE_URL must name a database server beside LEAF_DATABASE_URLS: a registry in an SQLite file belongs to one host, and the databases are shared`
      : `${name} must name database servers beside the registry ${registry}: an SQLite file belongs to one host, and the registry is shared. Use LEAF_SNOWFLAKE_REGISTRY=local for a single server`,
  ];
}

/**
 * Settings that the Java service requires have no default beside its properties file: tags and worker IDs would begin
 * anew.
 */
function movedFaults(values: Resolved, env: NodeJS.ProcessEnv): string[] {
  if (values.LEAF_PROPERTIES_FILE === undefined) return [];
  const registry = values.LEAF_SNOWFLAKE_ENABLED ? values.LEAF_SNOWFLAKE_REGISTRY : undefined;
  const faults: string[] = [];
  const withDatabase = values.LEAF_SEGMENT_ENABLED || isInDatabase(registry);
  if (withDatabase && !env.LEAF_DATABASE_URL && !env.LEAF_DATABASE_URLS) {
    faults.push('LEAF_PROPERTIES_FILE names no database: set leaf.jdbc.url in it, or LEAF_DATABASE_URL');
  }
  if (registry === 'local' && !env.LEAF_LOCAL_WORKERS) {
    faults.push(
      'LEAF_PROPERTIES_FILE names no worker ID: set leaf.snowflake.local.workIdMap in it, or LEAF_LOCAL_WORKERS',
    );
  }
  return faults;
}

function clientFaults(values: Resolved): string[] {
  const { LEAF_CLIENT_TOKENS: tokens, LEAF_CLIENT_QUOTAS: quotas = {} } = values;
  const names = Object.keys(quotas);
  if (tokens === undefined)
    return names.length > 0 ? ['LEAF_CLIENT_QUOTAS needs LEAF_CLIENT_TOKENS, which is not set'] : [];
  const unknown = names.find((name) => name !== ANY && !tokens.some((token) => token.name === name));
  return unknown === undefined ? [] : [`LEAF_CLIENT_QUOTAS names "${unknown}", which LEAF_CLIENT_TOKENS does not list`];
}

/** A token has one purpose. */
function sharedTokens(values: Resolved): string[] {
  const names = ['LEAF_CLIENT_TOKENS', 'LEAF_WORKER_TOKENS', 'LEAF_CLUSTER_TOKEN', 'LEAF_ADMIN_TOKEN'] as const;
  const pairs = names.flatMap((name, index) => names.slice(index + 1).map((other) => [name, other] as const));
  const tokensOf = (name: (typeof names)[number]): string[] => (values[name] ?? []).map(({ token }) => token);
  return pairs
    .filter(([name, other]) => tokensOf(name).some((token) => tokensOf(other).includes(token)))
    .map(([name, other]) => `${name} and ${other} must not share a token`);
}
