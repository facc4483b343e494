import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS } from '@leaf-ids/id/internal';
import { ID_VARIABLES } from './id-variables';
import { addresses, flag, integer, oneOf, path, processes, ratio, text, variable } from './parsers';
import { clientQuotas, parseTokens, type TokenKind } from './tokens';
import { TRACING_VARIABLES } from './tracing';

const tokens = (kind: TokenKind) => (value: string) => parseTokens(kind, value);
const host = text(/^[A-Za-z0-9._:-]{1,253}$/, 'an IP address or a host name');

/** Every environment variable of leaf-server. `.env.example` lists the same; a test keeps the two equal. */
export const VARIABLES = {
  LEAF_NAME: variable(
    'leaf',
    text(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits, ".", "_" or "-", but not "." or ".."'),
    'service name, part of the path of the worker files and of the ZooKeeper root',
    { option: 'snowflake.registry.name', neverEmpty: true },
  ),
  LEAF_HOST: variable(
    null,
    host,
    'address on which HTTP listens; default: ::, which also accepts IPv4, or 0.0.0.0 if the host has no IPv6',
  ),
  LEAF_PORT: variable(8080, integer(0, 65_535), 'port on which the HTTP server listens; 0 selects a free port'),
  LEAF_MANAGEMENT_PORT: variable(
    undefined,
    integer(0, 65_535),
    'port for operators: metrics, admin API, monitor, console and documentation are served only there, health on both ports; default: LEAF_PORT serves everything',
  ),
  LEAF_MANAGEMENT_HOST: variable(undefined, host, 'address on which LEAF_MANAGEMENT_PORT listens; default: LEAF_HOST'),
  LEAF_RESP_PORT: variable(
    undefined,
    integer(0, 65_535),
    'port for clients of the Redis protocol; 0 selects a free port; default: disabled',
  ),
  LEAF_RESP_HOST: variable('127.0.0.1', host, 'address on which LEAF_RESP_PORT listens'),
  LEAF_RESP_TLS_CERT_FILE: variable(
    undefined,
    path,
    'PEM file of the certificate chain for LEAF_RESP_PORT, read at the start; default: no TLS',
    { neverEmpty: true },
  ),
  LEAF_RESP_TLS_KEY_FILE: variable(
    undefined,
    path,
    'PEM file of the private key for LEAF_RESP_TLS_CERT_FILE, read at the start',
    { neverEmpty: true },
  ),
  LEAF_PUBLIC_PATH: variable(
    '/',
    text(/^\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*)?$/, 'a path without a trailing slash, such as /leaf'),
    'path under which a proxy serves this server, such as /leaf; the proxy removes it from requests',
  ),
  LEAF_PROCESSES: variable(
    1,
    processes,
    'number of processes that share the port, each with its own worker ID; auto starts one per core',
  ),
  LEAF_ADVERTISE_HOST: variable(
    null,
    host,
    'address of this server in the worker registry; default: the first IPv4 address that is not internal, or the first IPv6 address if there is none; with a registry that servers share, a loopback address must be set explicitly',
    { option: 'snowflake.instance.ip', neverEmpty: true },
  ),
  LEAF_ADVERTISE_PORT: variable(
    null,
    integer(1, 65_535),
    'port of this server in the worker registry; default: LEAF_PORT',
    { option: 'snowflake.instance.port', neverEmpty: true },
  ),
  LEAF_DATA_DIR: variable('./data', path, 'directory of the embedded database and the worker files', {
    neverEmpty: true,
  }),
  LEAF_STEP_LOG: variable(
    undefined,
    path,
    'directory for a file of each process with the steps that it takes with its worker ID and its ranges, which the tests check; it grows without limit; default: none',
  ),
  LEAF_SEGMENT_ENABLED: variable(true, flag, 'enables segment mode', { option: 'segment' }),
  LEAF_SNOWFLAKE_ENABLED: variable(true, flag, 'enables snowflake mode', { option: 'snowflake' }),
  ...ID_VARIABLES,
  LEAF_PROPERTIES_FILE: variable(
    undefined,
    path,
    'path of a leaf.properties file of the Java service; environment variables take precedence',
    { neverEmpty: true },
  ),
  LEAF_JAVA_PATHS: variable(
    undefined,
    flag,
    'maps the paths of the Java routes as Spring does: a tag ends at its last dot, a trailing slash or a ;v=1 is ignored; default: false',
  ),
  LEAF_JSON_IDS: variable(
    'string',
    oneOf('string', 'number'),
    'JSON type of a single ID for a client that prefers application/json: string, which no parser rounds, or number, as in the Java service',
  ),
  LEAF_ADMIN_TOKEN: variable(
    undefined,
    tokens('admin'),
    'bearer token of the admin API, generated with openssl rand -hex 32; several as name:token,name2:token2@2030-01-31 (with an expiry date); default: generated and logged at each start',
    { secret: true },
  ),
  LEAF_ADMIN_TOKEN_FILE: variable(
    undefined,
    path,
    'file with the value of LEAF_ADMIN_TOKEN; read again when it changes',
  ),
  LEAF_CLIENT_TOKENS: variable(
    undefined,
    tokens('client'),
    'tokens for ID requests, in the format of LEAF_ADMIN_TOKEN; default: ID requests require no token',
    { secret: true, neverEmpty: true, formerly: ['LEAF_TAKER_TOKENS'] },
  ),
  LEAF_CLIENT_TOKENS_FILE: variable(
    undefined,
    path,
    'file with the value of LEAF_CLIENT_TOKENS; read again when it changes',
    { neverEmpty: true, formerly: ['LEAF_TAKER_TOKENS_FILE'] },
  ),
  LEAF_CLIENT_QUOTAS: variable(
    undefined,
    clientQuotas,
    'JSON object of token names, each with its tags and its IDs per second for each tag; "*" matches any other; default: no limits',
    { neverEmpty: true, formerly: ['LEAF_TAKER_QUOTAS'] },
  ),
  LEAF_WORKER_TOKENS: variable(
    undefined,
    tokens('worker'),
    'tokens of processes that acquire worker IDs, in the format of LEAF_ADMIN_TOKEN; default: worker windows are disabled',
    { secret: true, neverEmpty: true },
  ),
  LEAF_WORKER_TOKENS_FILE: variable(
    undefined,
    path,
    'file with the value of LEAF_WORKER_TOKENS; read again when it changes',
    { neverEmpty: true },
  ),
  LEAF_WORKER_WINDOWS: variable(
    DEFAULT_SNOWFLAKE_MODULE_OPTIONS.mostWindows,
    integer(1, 1024),
    'maximum number of worker windows at the same time, and never more than three quarters of the worker IDs, since servers need some',
    { option: 'snowflake.mostWindows' },
  ),
  LEAF_CLUSTER_TOKEN: variable(
    undefined,
    tokens('cluster'),
    'token that all servers of a cluster share, in the format of LEAF_ADMIN_TOKEN; of several, a server signs with the first and accepts all; default: a server shows only itself in detail',
    { secret: true },
  ),
  LEAF_CLUSTER_TOKEN_FILE: variable(
    undefined,
    path,
    'file with the value of LEAF_CLUSTER_TOKEN; read again when it changes',
  ),
  LEAF_MAX_CONNECTIONS: variable(
    1000,
    integer(1, 1_000_000),
    'maximum number of connections; at the limit, a new one replaces one on which the server does no work, and if there is none, only its requests for IDs in memory are served',
  ),
  LEAF_KEEP_ALIVE_MS: variable(
    65_000,
    integer(1000, 3_600_000),
    'an idle connection is closed after this time, in ms; set it above the idle timeout of load balancers',
  ),
  LEAF_TRUSTED_PROXIES: variable(
    undefined,
    addresses,
    'proxies whose X-Forwarded-For names the client, for the audit, the failure limit and streams: addresses or CIDR blocks, separated by commas; default: none',
  ),
  LEAF_MAX_IN_FLIGHT: variable(
    1000,
    integer(1, 1_000_000),
    'maximum number of concurrent requests, including waiting ones, except requests answered from memory; others are refused with LEAF_OVERLOADED',
  ),
  LEAF_MAX_LAG_MS: variable(
    20,
    integer(1, 60_000),
    'under overload, how long a request waits in the queue before it is refused with LEAF_OVERLOADED, in ms',
  ),
  LEAF_SHUTDOWN_DRAIN_MS: variable(
    5000,
    integer(0, 600_000),
    'time between SIGTERM or SIGHUP, when readiness returns 503, and the close of HTTP, in ms; Ctrl-C skips it',
  ),
  LEAF_LOG_LEVEL: variable('info', oneOf('error', 'warn', 'info', 'debug'), 'error, warn, info or debug'),
  LEAF_LOG_FORMAT: variable(
    null,
    oneOf('pretty', 'json'),
    'pretty or json; default: pretty on a terminal, json elsewhere',
  ),
  LEAF_LOG_TIME: variable('iso', oneOf('iso', 'epoch'), 'time of a log line: iso (UTC) or epoch (Unix ms)'),
  LEAF_ACCESS_LOG: variable(
    'off',
    oneOf('off', 'slow', 'sampled', 'all'),
    'requests to log, at the level info: off, slow, sampled or all',
  ),
  LEAF_ACCESS_LOG_SLOW_MS: variable(100, integer(1, 3_600_000), 'minimum duration of a slow request, in ms'),
  LEAF_ACCESS_LOG_RATIO: variable(0.01, ratio, 'share of requests to log with sampled, above 0 and at most 1'),
  ...TRACING_VARIABLES,
} as const;

type Variables = typeof VARIABLES;
type VariableName = keyof Variables;
type Value<Name extends VariableName> = ReturnType<Variables[Name]['parse']>;

/** The value of each variable; undefined without a value and a default. */
export type Resolved = {
  readonly [Name in VariableName]: Value<Name> | (Variables[Name]['default'] extends undefined ? undefined : never);
};

/** The defaults that depend on other settings. */
export type DerivedDefaults = {
  readonly [Name in VariableName as Variables[Name]['default'] extends null ? Name : never]: Value<Name>;
};

const OPTION = /\bthe option ([a-z]\w*(?:\.\w+)*)/gi;

/**
 * The variables that set an option of the libraries, or its parts, for messages; undefined if none does.
 *
 * @param path of the option; that of an item, `snowflake.registry.workers["*"]`, may follow
 */
export function variablesOf(path: string): string | undefined {
  const [option = ''] = path.split('[', 1);
  const setting = (fits: (set: string) => boolean): string[] =>
    Object.entries(VARIABLES).flatMap(([name, { option: set }]) => ([set].flat().some(fits) ? [name] : []));
  const whole = setting((set) => set === option);
  const names = whole.length > 0 ? whole : setting((set) => set.startsWith(`${option}.`));
  // Of these, only one is set.
  const text = names.join(option === 'database' ? ' or ' : ' and ');
  return text === '' ? undefined : `${text}${path.slice(option.length)}`;
}

/** Plain data of the libraries, whose messages name options, with the names of variables in all of its strings. */
export function withVariables<Data>(data: Data): Data {
  return mapped(data) as Data;
}

function mapped(data: unknown): unknown {
  if (typeof data === 'string') return data.replace(OPTION, (text, option: string) => variablesOf(option) ?? text);
  if (Array.isArray(data)) return data.map(mapped);
  if (typeof data !== 'object' || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, mapped(value)]));
}
