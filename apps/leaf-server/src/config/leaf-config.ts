import { join, resolve } from 'node:path';
import { BitLayout, firstAddress, formatInstance, type Instance, LeafError, messageOf } from '@leaf-ids/core';
import { policyOf, registryFromSettings, type RegistryOptions, type StrategyName } from '@leaf-ids/registry';
import type { SegmentModuleOptions } from '@leaf-ids/segment';
import type { SnowflakeModuleOptions } from '@leaf-ids/snowflake';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import type { AdminToken } from './admin-token';
import type { HttpLimits } from './http-limits';
import { localWorkerFaults } from './local-workers';
import { type ManagementAddress, managementFaults, managementOf } from './management';
import { type TracingConfig, tracingOf } from './tracing';
import { type Environment, type Variable, type VariableName, VARIABLES } from './variables';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** All settings of leaf-server, resolved. */
export interface LeafConfig {
  /** Of the service. */
  readonly name: string;
  /** How the worker registry knows this server. */
  readonly instance: Instance;
  readonly host: string;
  readonly port: number;
  /** The path under which a proxy serves this server, as `/leaf`; empty: the root. */
  readonly publicPath: string;
  readonly management: ManagementAddress | undefined;
  /** How many serve the port together. */
  readonly processes: number;
  /** Which of them this is, from 0; undefined when there is one only. */
  readonly process: number | undefined;
  readonly drainMs: number;
  readonly http: HttpLimits;
  /** Undefined: one is made at start. */
  readonly adminTokens: readonly AdminToken[] | undefined;
  readonly log: { readonly level: LogLevel; readonly format: 'pretty' | 'json' };
  /** Undefined: there are no traces. */
  readonly tracing: TracingConfig | undefined;
  /** What is left out is off. */
  readonly ids: { readonly segment?: SegmentModuleOptions; readonly snowflake?: SnowflakeModuleOptions };
  /** What an operator should know, though it stops nothing. */
  readonly warnings: readonly string[];
}

/** Without a default, derived or not. */
type Optional =
  | 'LEAF_ADMIN_TOKEN'
  | 'LEAF_DATABASE_URLS'
  | 'LEAF_DATABASE_TAGS'
  | 'LEAF_ZOOKEEPER'
  | 'LEAF_ZOOKEEPER_AUTH'
  | 'LEAF_PROPERTIES_FILE'
  | 'LEAF_TRUSTED_PROXIES'
  | 'LEAF_MANAGEMENT_PORT'
  | 'LEAF_MANAGEMENT_HOST'
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_HEADERS';
/** The values of everything that has a default. */
type Resolved = { readonly [Name in Exclude<VariableName, Optional>]: NonNullable<Environment[Name]> } & {
  readonly [Name in Optional]?: NonNullable<Environment[Name]>;
};

/**
 * Reads the settings from environment variables; an empty one counts as not set.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` listing every fault
 */
export function loadConfig(env: NodeJS.ProcessEnv, terminal = process.stdout.isTTY): LeafConfig {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { default: fallback, parse, secret }] of Object.entries<Variable<unknown>>(VARIABLES)) {
    const given = env[name];
    const text = given === undefined || given === '' ? fallback : given;
    if (text === undefined) continue;
    try {
      values[name] = parse(text);
    } catch (error) {
      const shown = secret ? '' : `, not ${JSON.stringify(text)}`;
      faults.push(`${name} ${messageOf(error)}${shown}${hint(name, text)}`);
    }
  }
  values.LEAF_SNOWFLAKE_REGISTRY ??= defaultRegistry(values, env);
  if (faults.length === 0)
    faults.push(...contradictions(values as Resolved), ...sharedWorkers(values, env), ...movedFaults(values, env));
  if (faults.length > 0) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `The configuration is invalid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
  return resolveConfig(withDerivedDefaults(values, terminal), unknownVariables(env));
}

/** Servers on one database server share its pool of workers; an embedded database has one server. */
function defaultRegistry({ LEAF_DATABASE_URL: url }: Partial<Resolved>, env: NodeJS.ProcessEnv): StrategyName {
  const isShared = url !== undefined && !('file' in parseDatabaseUrl(url));
  return isShared && !env.LEAF_LOCAL_WORKERS ? 'database' : 'local';
}

function withDerivedDefaults(values: Partial<Resolved>, terminal: boolean): Resolved {
  const { LEAF_PORT = 0, LEAF_DATA_DIR = '' } = values;
  return {
    LEAF_ADVERTISE_HOST: firstAddress(),
    LEAF_ADVERTISE_PORT: LEAF_PORT,
    LEAF_DATABASE_ACCEPT: [],
    LEAF_DATABASE_URL: `sqlite:${join(resolve(LEAF_DATA_DIR), 'leaf.sqlite')}`,
    LEAF_LOG_FORMAT: terminal ? 'pretty' : 'json',
    ...values,
  } as Resolved;
}

function resolveConfig(values: Resolved, warnings: string[]): LeafConfig {
  const [timeBits, workerBits, sequenceBits] = values.LEAF_SNOWFLAKE_BITS;
  const segment = {
    database: databaseOf(values),
    waitMs: values.LEAF_SEGMENT_WAIT_MS,
    refreshMs: values.LEAF_SEGMENT_REFRESH_MS,
    prefetchRatio: values.LEAF_SEGMENT_PREFETCH_RATIO,
    durationMs: values.LEAF_SEGMENT_DURATION_MS,
    maxStep: values.LEAF_SEGMENT_MAX_STEP,
    hotTagsFile: join(resolve(values.LEAF_DATA_DIR), values.LEAF_NAME, 'hot-tags.json'),
  };
  const instance = { ip: values.LEAF_ADVERTISE_HOST, port: values.LEAF_ADVERTISE_PORT };
  const registry = values.LEAF_SNOWFLAKE_REGISTRY;
  const isByAddress = values.LEAF_SNOWFLAKE_ENABLED && registry !== 'local' && policyOf(registry) === 'fixed';
  if (isByAddress && instance.port === 0) {
    warnings.push(
      `The worker registry knows this server as ${formatInstance(instance)}, like every other server with LEAF_PORT=0 at this address. With mysql and zk_normal only one of them can hold the worker ID: set a different LEAF_ADVERTISE_PORT for each.`,
    );
  }
  const snowflake = {
    registry: registryOf(values),
    instance,
    layout: { timeBits, workerBits, sequenceBits, epoch: values.LEAF_SNOWFLAKE_EPOCH },
    reportMs: values.LEAF_SNOWFLAKE_REPORT_MS,
    horizonMs: horizonOf(values),
    maxClockOffsetMs: values.LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS,
    maxBackwardsMs: values.LEAF_SNOWFLAKE_MAX_BACKWARDS_MS,
    // Segments are served meanwhile.
    waitForWorker: false,
  };
  return {
    name: values.LEAF_NAME,
    instance,
    host: values.LEAF_HOST,
    port: values.LEAF_PORT,
    publicPath: values.LEAF_PUBLIC_PATH === '/' ? '' : values.LEAF_PUBLIC_PATH,
    management: managementOf(values),
    processes: values.LEAF_PROCESSES,
    process: undefined,
    drainMs: values.LEAF_SHUTDOWN_DRAIN_MS,
    http: {
      maxConnections: values.LEAF_MAX_CONNECTIONS,
      dealt: false,
      maxInFlight: values.LEAF_MAX_IN_FLIGHT,
      maxLagMs: values.LEAF_MAX_LAG_MS,
      waitMs: values.LEAF_SEGMENT_WAIT_MS,
      keepAliveMs: values.LEAF_KEEP_ALIVE_MS,
      trustedProxies: values.LEAF_TRUSTED_PROXIES ?? [],
    },
    adminTokens: values.LEAF_ADMIN_TOKEN,
    log: { level: values.LEAF_LOG_LEVEL, format: values.LEAF_LOG_FORMAT },
    tracing: tracingOf(values),
    ids: {
      ...(values.LEAF_SEGMENT_ENABLED ? { segment } : {}),
      ...(values.LEAF_SNOWFLAKE_ENABLED ? { snowflake } : {}),
    },
    warnings,
  };
}

function databaseOf(values: Resolved): SegmentModuleOptions['database'] {
  const common = {
    migrate: values.LEAF_DATABASE_MIGRATE,
    accept: values.LEAF_DATABASE_ACCEPT,
    failoverGapSteps: values.LEAF_SEGMENT_FAILOVER_GAP_STEPS,
  };
  const { LEAF_DATABASE_URL: url, LEAF_DATABASE_URLS: databases, LEAF_DATABASE_TAGS: tags } = values;
  return databases === undefined
    ? { url, ...common }
    : { shards: { databases, ...(tags === undefined ? {} : { tags }) }, ...common };
}

function registryOf(values: Resolved): RegistryOptions {
  const { LEAF_NAME: name, LEAF_ZOOKEEPER: address = '', LEAF_ZOOKEEPER_AUTH: auth } = values;
  // The advertised port may be a name only, as that of the Java service is.
  const instance = { ip: values.LEAF_ADVERTISE_HOST, port: values.LEAF_PORT || values.LEAF_ADVERTISE_PORT };
  return registryFromSettings(values.LEAF_SNOWFLAKE_REGISTRY, {
    name,
    directory: join(resolve(values.LEAF_DATA_DIR), name),
    fileFallback: values.LEAF_SNOWFLAKE_OFFLINE === 'local_file',
    databaseUrl: values.LEAF_DATABASE_URL,
    migrate: values.LEAF_DATABASE_MIGRATE,
    accept: values.LEAF_DATABASE_ACCEPT,
    localWorkers: values.LEAF_LOCAL_WORKERS,
    zookeeper: { address, ...(auth === undefined ? {} : { auth }) },
    url: `http://${formatInstance(instance)}`,
  });
}

function horizonOf(values: Resolved): number {
  return policyOf(values.LEAF_SNOWFLAKE_REGISTRY) === 'pool'
    ? values.LEAF_SNOWFLAKE_LEASE_TTL_MS
    : values.LEAF_SNOWFLAKE_HORIZON_MS;
}

/** Faults that show only when settings are seen together. */
function contradictions(values: Resolved): string[] {
  const faults: string[] = [];
  if (!values.LEAF_SEGMENT_ENABLED && !values.LEAF_SNOWFLAKE_ENABLED) {
    faults.push('LEAF_SEGMENT_ENABLED and LEAF_SNOWFLAKE_ENABLED are both false: switch at least one on');
  }
  if (values.LEAF_SNOWFLAKE_REPORT_MS * 2 > horizonOf(values)) {
    const isPool = policyOf(values.LEAF_SNOWFLAKE_REGISTRY) === 'pool';
    const horizon = isPool ? 'LEAF_SNOWFLAKE_LEASE_TTL_MS' : 'LEAF_SNOWFLAKE_HORIZON_MS';
    faults.push(`${horizon} must be at least twice LEAF_SNOWFLAKE_REPORT_MS, so that one failed report does no harm`);
  }
  if (/^zk_/.test(values.LEAF_SNOWFLAKE_REGISTRY) && values.LEAF_ZOOKEEPER === undefined) {
    faults.push(`LEAF_ZOOKEEPER must be set for the registry ${values.LEAF_SNOWFLAKE_REGISTRY}`);
  }
  faults.push(...managementFaults(values), ...shardFaults(values));
  const [timeBits, workerBits, sequenceBits] = values.LEAF_SNOWFLAKE_BITS;
  try {
    const layout = new BitLayout({ timeBits, workerBits, sequenceBits, epoch: values.LEAF_SNOWFLAKE_EPOCH });
    if (values.LEAF_SNOWFLAKE_REGISTRY === 'local') {
      faults.push(...localWorkerFaults(values.LEAF_LOCAL_WORKERS, values.LEAF_PROCESSES, layout.maxWorkerId));
    }
  } catch (error) {
    faults.push(`LEAF_SNOWFLAKE_BITS and LEAF_SNOWFLAKE_EPOCH: ${messageOf(error)}`);
  }
  return faults;
}

function shardFaults(values: Partial<Resolved>): string[] {
  const { LEAF_DATABASE_URLS: databases, LEAF_DATABASE_TAGS: tags = {}, LEAF_SNOWFLAKE_REGISTRY: registry } = values;
  if (databases === undefined) {
    return Object.keys(tags).length > 0 ? ['LEAF_DATABASE_TAGS needs LEAF_DATABASE_URLS, which is not set'] : [];
  }
  const faults: string[] = [];
  const unknown = Object.values(tags).find((name) => !Object.hasOwn(databases, name));
  if (unknown !== undefined)
    faults.push(`LEAF_DATABASE_TAGS names "${unknown}", which LEAF_DATABASE_URLS does not list`);
  const inDatabase = registry === 'database' || registry === 'mysql';
  if (values.LEAF_SNOWFLAKE_ENABLED === true && inDatabase && values.LEAF_DATABASE_URL === undefined) {
    faults.push(
      `LEAF_DATABASE_URL must name the one database of the registry ${registry} beside LEAF_DATABASE_URLS: without it, each server would have a registry of its own`,
    );
  }
  return faults;
}

/** Servers on one database that were never told their worker IDs would all be worker 0. */
function sharedWorkers(values: Partial<Resolved>, env: NodeJS.ProcessEnv): string[] {
  if (values.LEAF_SNOWFLAKE_ENABLED !== true || values.LEAF_SEGMENT_ENABLED !== true) return [];
  if (values.LEAF_SNOWFLAKE_REGISTRY !== 'local') return [];
  const { LEAF_DATABASE_URL: url, LEAF_DATABASE_URLS: several } = values;
  const urls = several === undefined ? [url].filter((text) => text !== undefined) : Object.values(several);
  if (urls.every((text) => 'file' in parseDatabaseUrl(text)) || env.LEAF_LOCAL_WORKERS) return [];
  return [
    'LEAF_LOCAL_WORKERS must be set beside a database that several servers can share: {"10.0.0.7:8080":0,"10.0.0.8:8080":1} gives each its worker ID, {"*":0} says that this is the only server; or choose a registry that servers share in LEAF_SNOWFLAKE_REGISTRY',
  ];
}

/**
 * Settings that the Java service requires have no default beside its properties file: tags and worker IDs would begin
 * anew.
 */
function movedFaults(values: Partial<Resolved>, env: NodeJS.ProcessEnv): string[] {
  if (values.LEAF_PROPERTIES_FILE === undefined) return [];
  const registry = values.LEAF_SNOWFLAKE_ENABLED === true ? values.LEAF_SNOWFLAKE_REGISTRY : undefined;
  const faults: string[] = [];
  const withDatabase = values.LEAF_SEGMENT_ENABLED === true || registry === 'mysql' || registry === 'database';
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

/** Kubernetes sets LEAF_PORT=tcp://… in every pod beside a Service that is called "leaf". */
function hint(name: string, text: string): string {
  if (name !== 'LEAF_PORT' || !text.includes('://')) return '';
  return ' (Kubernetes sets it for a Service named "leaf": set enableServiceLinks: false in the pod, or LEAF_PORT yourself)';
}

function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  const known = new Set(Object.keys(VARIABLES));
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('LEAF_') && !known.has(name) && !isServiceLink(name),
  );
  return unknown.map((name) => `Unknown setting ${name}; ignored. .env.example lists all settings.`);
}

function isServiceLink(name: string): boolean {
  return /^LEAF_(SERVICE_|PORT_)/.test(name);
}
