import { DEFAULT_LAYOUT } from '@leaf-ids/core';
import { DEFAULT_FAILOVER_GAP_STEPS } from '@leaf-ids/persistence';
import { DEFAULT_HORIZON_MS } from '@leaf-ids/registry';
import { DEFAULT_SEGMENT_MODULE_OPTIONS as SEGMENT } from '@leaf-ids/segment';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS as SNOWFLAKE } from '@leaf-ids/snowflake';
import { adminTokens } from './admin-token';
import {
  addresses,
  bits,
  databaseUrl,
  databaseUrls,
  durabilitySettings,
  flag,
  integer,
  oneOf,
  type Parser,
  processes,
  ratio,
  tagMap,
  text,
  workers,
  zookeeperAddress,
  zookeeperAuth,
} from './parsers';
import { registry } from './registry';
import { otlpEndpoint, otlpHeaders, SAMPLERS, share } from './tracing';

export interface Variable<T> {
  /** Undefined: the default depends on other settings, `meaning` says how. */
  readonly default: string | undefined;
  readonly meaning: string;
  readonly parse: Parser<T>;
  /** The value is never shown. */
  readonly secret: boolean;
}

function variable<T>(
  fallback: string | number | boolean | undefined,
  parse: Parser<T>,
  meaning: string,
  secret = false,
): Variable<T> {
  return { default: fallback === undefined ? undefined : String(fallback), meaning, parse, secret };
}

const DAY_MS = 86_400_000;
const host = text(/^[A-Za-z0-9._:-]{1,253}$/, 'an IP address or a host name');

/** Every environment variable of leaf-server. `.env.example` lists the same; a test keeps the two equal. */
export const VARIABLES = {
  LEAF_NAME: variable(
    'leaf',
    text(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits, ".", "_" or "-"'),
    'service name, part of the path of the worker files and of the ZooKeeper root',
  ),
  LEAF_HOST: variable('0.0.0.0', host, 'address on which HTTP listens'),
  LEAF_PORT: variable(8080, integer(0, 65_535), 'port on which HTTP listens; 0 takes a free one'),
  LEAF_MANAGEMENT_PORT: variable(
    undefined,
    integer(0, 65_535),
    'port for operators: metrics, admin API, monitor, console and documentation are then served there only, health on both; default: LEAF_PORT serves all',
  ),
  LEAF_MANAGEMENT_HOST: variable(undefined, host, 'address on which that port listens; default: LEAF_HOST'),
  LEAF_PUBLIC_PATH: variable(
    '/',
    text(/^\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*)?$/, 'a path without a slash at its end, as /leaf'),
    'path under which a proxy serves this server, as /leaf; the proxy removes it from requests',
  ),
  LEAF_PROCESSES: variable(
    1,
    processes,
    'processes that serve the port together, each with a worker ID of its own; auto is one per core',
  ),
  LEAF_ADVERTISE_HOST: variable(
    undefined,
    host,
    'how the worker registry knows this server; default: the first IPv4 address that is not internal',
  ),
  LEAF_ADVERTISE_PORT: variable(
    undefined,
    integer(1, 65_535),
    'how the worker registry knows this server; default: LEAF_PORT',
  ),
  LEAF_DATA_DIR: variable('./data', text(/^[^\0]+$/, 'a path'), 'embedded database and worker files'),
  LEAF_SEGMENT_ENABLED: variable(true, flag, 'segment mode on or off'),
  LEAF_SNOWFLAKE_ENABLED: variable(true, flag, 'snowflake mode on or off'),
  LEAF_DATABASE_URL: variable(
    undefined,
    databaseUrl,
    'database of the segments: sqlite:<file>, or mysql, mariadb or postgres://user:password@host:port/database, TLS by sslmode=require or verify-full; default: sqlite:<LEAF_DATA_DIR>/leaf.sqlite',
    true,
  ),
  LEAF_DATABASE_URLS: variable(
    undefined,
    databaseUrls,
    'several databases, each tag on one of them, in place of LEAF_DATABASE_URL: name to URL as JSON',
    true,
  ),
  LEAF_DATABASE_TAGS: variable(
    undefined,
    tagMap,
    'with LEAF_DATABASE_URLS: tag to name as JSON; other tags are spread by a hash of the names',
  ),
  LEAF_DATABASE_MIGRATE: variable(true, flag, 'make and update the tables at start'),
  LEAF_DATABASE_ACCEPT: variable(
    undefined,
    durabilitySettings,
    'settings under which the database can lose a commit, accepted by name: `innodb_flush_log_at_trx_commit`, `sync_binlog`, `fsync`, `synchronous_commit`, separated by commas',
  ),
  LEAF_SEGMENT_WAIT_MS: variable(
    SEGMENT.waitMs,
    integer(1, 60_000),
    'how long a request waits for a segment before 503, in ms',
  ),
  LEAF_SEGMENT_REFRESH_MS: variable(SEGMENT.refreshMs, integer(100, DAY_MS), 'time between two tag refreshes, in ms'),
  LEAF_SEGMENT_PREFETCH_RATIO: variable(
    SEGMENT.prefetchRatio,
    ratio,
    'share of a segment that is used when the next one is fetched',
  ),
  LEAF_SEGMENT_DURATION_MS: variable(
    SEGMENT.durationMs,
    integer(1, DAY_MS),
    'dynamic step: a segment that lasts less doubles the next one, twice as long halves it, in ms',
  ),
  LEAF_SEGMENT_MAX_STEP: variable(
    SEGMENT.maxStep,
    integer(1, 1_000_000_000),
    'the dynamic step does not grow above this',
  ),
  LEAF_SEGMENT_FAILOVER_GAP_STEPS: variable(
    DEFAULT_FAILOVER_GAP_STEPS,
    integer(0, 1_000_000),
    'lost allocations of a tag that a failover of the database is proof against, by moving every tag forward; 0 is off',
  ),
  LEAF_SNOWFLAKE_REGISTRY: variable(
    undefined,
    registry,
    'where worker IDs come from: database (a pool in LEAF_DATABASE_URL; alias mysql_recycle), mysql (a row for each address there), zk_normal, zk_recycle or local; default: database beside a database server, else local',
  ),
  LEAF_SNOWFLAKE_OFFLINE: variable(
    'local_file',
    oneOf('local_file', 'refuse'),
    'zk_normal, mysql while the registry is away: local_file goes on from a file, refuse stops at the recorded ceiling',
  ),
  LEAF_SNOWFLAKE_BITS: variable(
    [DEFAULT_LAYOUT.timeBits, DEFAULT_LAYOUT.workerBits, DEFAULT_LAYOUT.sequenceBits].join(','),
    bits,
    'bits of time, worker ID and sequence, at most 63 in all',
  ),
  LEAF_SNOWFLAKE_EPOCH: variable(
    DEFAULT_LAYOUT.epoch,
    integer(0, Number.MAX_SAFE_INTEGER),
    'time zero of snowflake IDs, in Unix ms; the default is 2010-11-04T01:42:54.657Z',
  ),
  LEAF_SNOWFLAKE_REPORT_MS: variable(
    SNOWFLAKE.reportMs,
    integer(100, 3_600_000),
    'time between two reports to the worker registry, in ms',
  ),
  LEAF_SNOWFLAKE_HORIZON_MS: variable(
    DEFAULT_HORIZON_MS.fixed,
    integer(1000, 3_600_000),
    'local, mysql, zk_normal: how far ahead time is reserved, in ms; a start after a crash waits for it',
  ),
  LEAF_SNOWFLAKE_LEASE_TTL_MS: variable(
    DEFAULT_HORIZON_MS.pool,
    integer(10_000, DAY_MS),
    'database, zk_recycle: how far ahead time is reserved, and after how long a worker ID is taken back, in ms',
  ),
  LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: variable(
    SNOWFLAKE.maxClockOffsetMs,
    integer(0, DAY_MS),
    'how far the clock may be from those of the other servers at the start, in ms; 0: any',
  ),
  LEAF_SNOWFLAKE_MAX_BACKWARDS_MS: variable(
    SNOWFLAKE.maxBackwardsMs,
    integer(0, 1000),
    'clock step backwards that is absorbed, in ms',
  ),
  LEAF_LOCAL_WORKERS: variable(
    '{"*":0}',
    workers,
    'registry local: "ip:port" to worker ID as JSON; * is any, for a single server',
  ),
  LEAF_ZOOKEEPER: variable(undefined, zookeeperAddress, 'registry zk_normal, zk_recycle: host:port,host:port[/chroot]'),
  LEAF_ZOOKEEPER_AUTH: variable(undefined, zookeeperAuth, 'registry zk_normal, zk_recycle: digest:user:password', true),
  LEAF_PROPERTIES_FILE: variable(
    undefined,
    text(/^[^\0]+$/, 'a path'),
    'a leaf.properties of the Java service, read first; environment variables win',
  ),
  LEAF_ADMIN_TOKEN: variable(
    undefined,
    adminTokens,
    'bearer token of the admin API, 16 characters or more; several as name:token,name2:token2@2030-01-31, the date ending one; default: made and logged at each start',
    true,
  ),
  LEAF_MAX_CONNECTIONS: variable(
    1000,
    integer(1, 1_000_000),
    'connections at once; a new one replaces an idle one, and if none is idle, its ID requests are refused with LEAF_OVERLOADED',
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
    'requests that wait or are being answered at once, what is answered at once from memory apart; more are refused with LEAF_OVERLOADED',
  ),
  LEAF_MAX_LAG_MS: variable(
    20,
    integer(1, 60_000),
    'under overload, how long a request waits for its turn before it is refused with LEAF_OVERLOADED, in ms',
  ),
  LEAF_SHUTDOWN_DRAIN_MS: variable(
    5000,
    integer(0, 600_000),
    'time between SIGTERM, when ready turns 503, and the close of HTTP, in ms; Ctrl-C does not wait',
  ),
  LEAF_LOG_LEVEL: variable('info', oneOf('error', 'warn', 'info', 'debug'), 'error, warn, info or debug'),
  LEAF_LOG_FORMAT: variable(
    undefined,
    oneOf('pretty', 'json'),
    'pretty or json; default: pretty on a terminal, json elsewhere',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'where OpenTelemetry traces go, by OTLP over HTTP, as http://collector:4318; default: there are no traces',
    true,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'the same as a whole URL, path included; it wins',
    true,
  ),
  OTEL_EXPORTER_OTLP_HEADERS: variable(undefined, otlpHeaders, 'headers for it: key=value,key2=value2', true),
  OTEL_SERVICE_NAME: variable('leaf', text(/^[^\0]+$/, 'a name'), 'service name in the traces'),
  OTEL_TRACES_SAMPLER: variable(
    'parentbased_always_on',
    oneOf(...SAMPLERS),
    'which traces: always_on, always_off, traceidratio, or one of these with parentbased_ before it, which asks the caller first',
  ),
  OTEL_TRACES_SAMPLER_ARG: variable(1, share, 'share of the traces for the samplers by ratio, 0 to 1'),
} as const;

type Variables = typeof VARIABLES;
export type VariableName = keyof Variables;
/** The parsed values; undefined where a default depends on others. */
export type Environment = { readonly [Name in VariableName]: ReturnType<Variables[Name]['parse']> | undefined };
