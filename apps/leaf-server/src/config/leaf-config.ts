import { networkInterfaces } from 'node:os';
import { LEAF_VARIABLES } from '@leaf-ids/cli';
import { formatInstance, type Instance, LeafError } from '@leaf-ids/core';
import { type HostAddresses, messageOf, nearestName } from '@leaf-ids/core/internal';
import { policyOf } from '@leaf-ids/registry';
import type { ClientRules, NamedToken } from './tokens';
import { contradictions, unreachableHost } from './contradictions';
import type { Variable } from './parsers';
import { type IdOptions, idsOf, optionFaults } from './id-options';
import { withDerivedDefaults } from './resolved';
import { withSecretFiles } from './secret-files';
import { type TracingConfig, tracingOf } from './tracing';
import { type Resolved, VARIABLES } from './variables';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Limits of HTTP: sizes and times. */
export interface HttpLimits extends AdmissionLimits {
  readonly maxConnections: number;
  /** How long a request may wait for its IDs. */
  readonly waitMs: number;
  /** An idle connection is closed after this time. */
  readonly keepAliveMs: number;
  /** Addresses of proxies whose `X-Forwarded-For` is believed, each with or without a prefix length. */
  readonly trustedProxies: readonly string[];
  /** Whether the routes of the Java service take the paths that it took. Undefined: nobody decided, and they do not. */
  readonly javaPaths: boolean | undefined;
}

export interface AdmissionLimits {
  /** ID requests that wait or are being answered at once. */
  readonly maxInFlight: number;
  /** Under overload, the longest wait of a request for its turn, in milliseconds. */
  readonly maxLagMs: number;
}

export interface ManagementAddress {
  readonly host: string;
  readonly port: number;
}

/** The port for clients of the Redis protocol. */
export interface RespConfig {
  readonly host: string;
  readonly port: number;
  /** Undefined: no TLS. */
  readonly tls: RespTls | undefined;
}

/** Files in PEM, read at the start. */
export interface RespTls {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface TokensConfig {
  readonly tokens: readonly NamedToken[];
  /** Read again when it changes. */
  readonly file: string | undefined;
}

export interface ClientsConfig extends TokensConfig {
  readonly rules: ClientRules;
}

export interface LogConfig {
  readonly level: LogLevel;
  readonly format: 'pretty' | 'json';
  /** ISO 8601 in UTC, or Unix milliseconds. */
  readonly time: 'iso' | 'epoch';
}

export interface AccessLogConfig {
  /** Which requests are logged: those that take `slowMs` or longer, a random share of `ratio`, or all. */
  readonly mode: 'slow' | 'sampled' | 'all';
  readonly slowMs: number;
  readonly ratio: number;
}

const PREFIX = 'LEAF_';

/** All settings of leaf-server, resolved. */
export interface LeafConfig {
  /** Name of the service. */
  readonly name: string;
  /** Address and port of this server in the worker registry. */
  readonly instance: Instance;
  readonly host: string;
  readonly port: number;
  /** The path under which a proxy serves this server, such as `/leaf`; empty: the root. */
  readonly publicPath: string;
  /** Undefined: operators use `port`. */
  readonly management: ManagementAddress | undefined;
  /** Undefined: the Redis protocol is disabled. */
  readonly resp: RespConfig | undefined;
  /** Number of processes that share the port. */
  readonly processes: number;
  /** Index of this process, from 0; undefined if there is only one. */
  readonly process: number | undefined;
  readonly drainMs: number;
  readonly http: HttpLimits;
  /** JSON type of a single ID. */
  readonly jsonIds: 'number' | 'string';
  /** Undefined: a token is generated at each start. */
  readonly adminTokens: readonly NamedToken[] | undefined;
  /** Read again when it changes. */
  readonly adminTokenFile: string | undefined;
  /** Undefined: ID requests require no token. */
  readonly clients: ClientsConfig | undefined;
  /** Undefined: worker windows are disabled. */
  readonly workers: TokensConfig | undefined;
  /** Undefined: this server does not ask the other servers, and does not answer them. */
  readonly cluster: TokensConfig | undefined;
  readonly log: LogConfig;
  /** Undefined: requests are not logged. */
  readonly accessLog: AccessLogConfig | undefined;
  /** Undefined: traces are disabled. */
  readonly tracing: TracingConfig | undefined;
  /** A mode that is omitted is disabled. */
  readonly ids: IdOptions;
  /** Warnings for the operator, for the log. */
  readonly warnings: readonly string[];
  /** The files from which settings were read, for the log. */
  readonly files: readonly string[];
}

/**
 * Reads the settings from environment variables. An empty variable counts as not set, or is a fault: see
 * {@link Variable.neverEmpty}.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` listing every fault
 */
export function loadConfig(
  environment: NodeJS.ProcessEnv,
  terminal = process.stdout.isTTY,
  addresses: HostAddresses = networkInterfaces(),
): LeafConfig {
  const { current, conflicts, notices } = withCurrentNames(environment);
  const { env, files, faults: secretFaults } = withSecretFiles(current);
  const faults = [...conflicts, ...secretFaults];
  const given: Record<string, unknown> = {};
  for (const [name, { default: fallback, parse, secret, neverEmpty }] of Object.entries<Variable<unknown>>(VARIABLES)) {
    const set = env[name];
    if (set === '' && neverEmpty) {
      faults.push(`${name} is empty: set a value, or remove the variable to use its default`);
      continue;
    }
    const text = set === undefined || set === '' ? fallback : set;
    if (typeof text !== 'string') continue;
    try {
      given[name] = parse(text);
    } catch (error) {
      const shown = secret ? '' : `, not ${JSON.stringify(text)}`;
      faults.push(`${name} ${messageOf(error)}${shown}${hint(name, text)}`);
    }
  }
  refuse(faults, notices);
  const derived = withDerivedDefaults(given, env, terminal, addresses);
  const unused = unusedHorizon(derived, environment);
  const values = unused.length === 0 ? derived : withDerivedDefaults(withoutLeaseTtl(given), env, terminal, addresses);
  const ids = idsOf(values);
  refuse([...contradictions(values, env), ...optionFaults(ids)], notices);
  const warnings = [...notices, ...unused, ...unreachableHost(values, env), ...unknownVariables(env)];
  return { ...resolveConfig(values, warnings), ids, files };
}

/** @param notices that explain the names in the faults */
function refuse(faults: readonly string[], notices: readonly string[]): void {
  if (faults.length === 0) return;
  const lines = [...faults, ...notices].map((fault) => `\n  - ${fault}`).join('');
  throw new LeafError('LEAF_CONFIG_INVALID', `The configuration is invalid:${lines}`);
}

/** The environment with the current names of variables that have earlier ones too. */
function withCurrentNames(environment: NodeJS.ProcessEnv): {
  readonly current: NodeJS.ProcessEnv;
  readonly conflicts: readonly string[];
  /** One for the operator, if there are earlier names. */
  readonly notices: readonly string[];
} {
  const current = new Map(Object.entries(environment));
  const conflicts: string[] = [];
  const renamed: string[] = [];
  for (const [name, { formerly }] of Object.entries<Variable<unknown>>(VARIABLES)) {
    for (const earlier of formerly.filter((each) => current.has(each))) {
      const [value, other] = [current.get(earlier), current.get(name)];
      if (value && other && value !== other) {
        conflicts.push(
          `${earlier} is the earlier name of ${name}, and the two are set to different values: remove one`,
        );
      }
      current.delete(earlier);
      current.set(name, other || value);
      renamed.push(`${name} for ${earlier}`);
    }
  }
  const notices =
    renamed.length === 0 ? [] : [`Use the new names of settings: ${renamed.join(', ')}. The earlier ones still work.`];
  return { current: Object.fromEntries(current), conflicts, notices };
}

/** With a pool, the earlier name had no effect. If it had one now, its short time would end the IDs early in an outage. */
function unusedHorizon({ LEAF_SNOWFLAKE_REGISTRY: registry }: Resolved, environment: NodeJS.ProcessEnv): string[] {
  const { LEAF_SNOWFLAKE_HORIZON_MS: earlier, LEAF_SNOWFLAKE_LEASE_TTL_MS: current } = environment;
  if (!earlier || current || policyOf(registry) !== 'pool') return [];
  return [
    `LEAF_SNOWFLAKE_HORIZON_MS has no effect with the registry ${registry}, as before: remove it. LEAF_SNOWFLAKE_LEASE_TTL_MS sets the lease TTL.`,
  ];
}

function withoutLeaseTtl({ LEAF_SNOWFLAKE_LEASE_TTL_MS: _, ...others }: Record<string, unknown>): Partial<Resolved> {
  return others;
}

function resolveConfig(values: Resolved, warnings: string[]): Omit<LeafConfig, 'ids' | 'files'> {
  const instance = { ip: values.LEAF_ADVERTISE_HOST, port: values.LEAF_ADVERTISE_PORT };
  const registry = values.LEAF_SNOWFLAKE_REGISTRY;
  const isByAddress = values.LEAF_SNOWFLAKE_ENABLED && registry !== 'local' && policyOf(registry) === 'fixed';
  if (isByAddress && instance.port === 0) {
    warnings.push(
      `The address of this server in the worker registry is ${formatInstance(instance)}, like that of every other server with LEAF_PORT=0 on this host. With mysql and zk_normal only one of them can hold the worker ID: set a different LEAF_ADVERTISE_PORT for each.`,
    );
  }
  return {
    name: values.LEAF_NAME,
    instance,
    host: values.LEAF_HOST,
    port: values.LEAF_PORT,
    publicPath: values.LEAF_PUBLIC_PATH === '/' ? '' : values.LEAF_PUBLIC_PATH,
    management: managementOf(values),
    resp: respOf(values),
    processes: values.LEAF_PROCESSES,
    process: undefined,
    drainMs: values.LEAF_SHUTDOWN_DRAIN_MS,
    http: {
      maxConnections: values.LEAF_MAX_CONNECTIONS,
      maxInFlight: values.LEAF_MAX_IN_FLIGHT,
      maxLagMs: values.LEAF_MAX_LAG_MS,
      waitMs: values.LEAF_SEGMENT_WAIT_MS,
      keepAliveMs: values.LEAF_KEEP_ALIVE_MS,
      trustedProxies: values.LEAF_TRUSTED_PROXIES ?? [],
      javaPaths: values.LEAF_JAVA_PATHS,
    },
    jsonIds: values.LEAF_JSON_IDS,
    adminTokens: values.LEAF_ADMIN_TOKEN,
    adminTokenFile: values.LEAF_ADMIN_TOKEN_FILE,
    clients: clientsOf(values),
    workers: tokensOf(values.LEAF_WORKER_TOKENS, values.LEAF_WORKER_TOKENS_FILE),
    cluster: tokensOf(values.LEAF_CLUSTER_TOKEN, values.LEAF_CLUSTER_TOKEN_FILE),
    log: { level: values.LEAF_LOG_LEVEL, format: values.LEAF_LOG_FORMAT, time: values.LEAF_LOG_TIME },
    accessLog: accessLogOf(values),
    tracing: tracingOf(values),
    warnings,
  };
}

function managementOf(values: Resolved): ManagementAddress | undefined {
  const { LEAF_MANAGEMENT_PORT: port, LEAF_MANAGEMENT_HOST: host = values.LEAF_HOST } = values;
  return port === undefined ? undefined : { host, port };
}

function respOf(values: Resolved): RespConfig | undefined {
  const { LEAF_RESP_PORT: port, LEAF_RESP_HOST: host } = values;
  const { LEAF_RESP_TLS_CERT_FILE: certFile, LEAF_RESP_TLS_KEY_FILE: keyFile } = values;
  if (port === undefined) return undefined;
  return { host, port, tls: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile } };
}

function clientsOf({
  LEAF_CLIENT_TOKENS: tokens,
  LEAF_CLIENT_TOKENS_FILE: file,
  LEAF_CLIENT_QUOTAS: rules = {},
}: Resolved): ClientsConfig | undefined {
  return tokens && { tokens, file, rules };
}

function tokensOf(tokens: readonly NamedToken[] | undefined, file: string | undefined): TokensConfig | undefined {
  return tokens && { tokens, file };
}

function accessLogOf(values: Resolved): AccessLogConfig | undefined {
  const { LEAF_ACCESS_LOG: mode, LEAF_ACCESS_LOG_SLOW_MS: slowMs, LEAF_ACCESS_LOG_RATIO: ratio } = values;
  return mode === 'off' ? undefined : { mode, slowMs, ratio };
}

/** Kubernetes sets LEAF_PORT=tcp://… in every pod beside a Service that is called "leaf". */
function hint(name: string, text: string): string {
  if (name !== 'LEAF_PORT' || !text.includes('://')) return '';
  return ' (Kubernetes sets it for a Service named "leaf": set enableServiceLinks: false in the pod, or LEAF_PORT yourself)';
}

function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  const known = Object.keys(VARIABLES);
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && ![...known, ...LEAF_VARIABLES].includes(name) && !isServiceLink(name),
  );
  // Without the prefix, which would make all names similar.
  const own = known.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  return unknown.map((name) => {
    const meant = nearestName(name.slice(PREFIX.length), own);
    const hint = meant === undefined ? '.env.example lists all settings.' : `Did you mean ${PREFIX}${meant}?`;
    return `Unknown setting ${name}; ignored. ${hint}`;
  });
}

function isServiceLink(name: string): boolean {
  return /^LEAF_(SERVICE_|PORT_)/.test(name);
}
