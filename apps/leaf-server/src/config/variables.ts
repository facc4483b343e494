import { DEFAULT_LAYOUT } from '@leaf-ids/core';
import { DEFAULT_FAILOVER_GAP_STEPS } from '@leaf-ids/persistence';
import { DEFAULT_HORIZON_MS } from '@leaf-ids/registry';
import { DEFAULT_SEGMENT_MODULE_OPTIONS as SEGMENT } from '@leaf-ids/segment';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS as SNOWFLAKE } from '@leaf-ids/snowflake';
import { adminTokens } from './admin-token';
import {
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
  LEAF_HOST: variable('0.0.0.0', host, 'address on which the HTTP server listens'),
  LEAF_PORT: variable(8080, integer(0, 65_535), 'port on which the HTTP server listens; 0 selects a free port'),
  LEAF_PROCESSES: variable(
    1,
    processes,
    'number of processes that share the port, each with its own worker ID; auto starts one per core',
  ),
  LEAF_ADVERTISE_HOST: variable(
    undefined,
    host,
    'host of this server in the worker registry; default: the first IPv4 address that is not internal',
  ),
  LEAF_ADVERTISE_PORT: variable(
    undefined,
    integer(1, 65_535),
    'port of this server in the worker registry; default: LEAF_PORT',
  ),
  LEAF_DATA_DIR: variable(
    './data',
    text(/^[^\0]+$/, 'a path'),
    'directory of the embedded database and the worker files',
  ),
  LEAF_SEGMENT_ENABLED: variable(true, flag, 'enables segment mode'),
  LEAF_SNOWFLAKE_ENABLED: variable(true, flag, 'enables snowflake mode'),
  LEAF_DATABASE_URL: variable(
    undefined,
    databaseUrl,
    'database of the segments: sqlite:<file>, or mysql, mariadb or postgres://user:password@host:port/database, TLS by sslmode=require or verify-full; default: sqlite:<LEAF_DATA_DIR>/leaf.sqlite',
    true,
  ),
  LEAF_DATABASE_URLS: variable(
    undefined,
    databaseUrls,
    'several databases, each with a part of the tags, instead of LEAF_DATABASE_URL: JSON object of names and URLs',
    true,
  ),
  LEAF_DATABASE_TAGS: variable(
    undefined,
    tagMap,
    'with LEAF_DATABASE_URLS: JSON object of tags and database names; a hash of the names distributes all other tags',
  ),
  LEAF_DATABASE_MIGRATE: variable(true, flag, 'creates and updates the tables at startup'),
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
  LEAF_SEGMENT_REFRESH_MS: variable(SEGMENT.refreshMs, integer(100, DAY_MS), 'interval of the tag refresh, in ms'),
  LEAF_SEGMENT_PREFETCH_RATIO: variable(
    SEGMENT.prefetchRatio,
    ratio,
    'used share of a segment at which the next one is loaded',
  ),
  LEAF_SEGMENT_DURATION_MS: variable(
    SEGMENT.durationMs,
    integer(1, DAY_MS),
    'dynamic step: if a segment lasts less than this, the next one is twice as large; if it lasts more than twice this, half as large; in ms',
  ),
  LEAF_SEGMENT_MAX_STEP: variable(SEGMENT.maxStep, integer(1, 1_000_000_000), 'maximum of the dynamic step, in IDs'),
  LEAF_SEGMENT_FAILOVER_GAP_STEPS: variable(
    DEFAULT_FAILOVER_GAP_STEPS,
    integer(0, 1_000_000),
    'number of lost allocations per tag that Leaf tolerates in a database failover, by moving every tag forward; 0 disables this',
  ),
  LEAF_SNOWFLAKE_REGISTRY: variable(
    undefined,
    registry,
    'source of the worker IDs: database (a pool in LEAF_DATABASE_URL; alias mysql_recycle), mysql (a row for each address there), zk_normal, zk_recycle or local; default: database with a database server, otherwise local',
  ),
  LEAF_SNOWFLAKE_OFFLINE: variable(
    'local_file',
    oneOf('local_file', 'refuse'),
    'zk_normal, mysql: behaviour while the registry is unreachable; local_file continues from a file, refuse stops at the recorded ceiling',
  ),
  LEAF_SNOWFLAKE_BITS: variable(
    [DEFAULT_LAYOUT.timeBits, DEFAULT_LAYOUT.workerBits, DEFAULT_LAYOUT.sequenceBits].join(','),
    bits,
    'bits of time, worker ID and sequence, at most 63 in total',
  ),
  LEAF_SNOWFLAKE_EPOCH: variable(
    DEFAULT_LAYOUT.epoch,
    integer(0, Number.MAX_SAFE_INTEGER),
    'epoch of snowflake IDs, in Unix ms; the default is 2010-11-04T01:42:54.657Z',
  ),
  LEAF_SNOWFLAKE_REPORT_MS: variable(
    SNOWFLAKE.reportMs,
    integer(100, 3_600_000),
    'interval of the reports to the worker registry, in ms',
  ),
  LEAF_SNOWFLAKE_HORIZON_MS: variable(
    DEFAULT_HORIZON_MS.fixed,
    integer(1000, 3_600_000),
    'local, mysql, zk_normal: how far ahead time is reserved, in ms; a start after a crash waits up to this long',
  ),
  LEAF_SNOWFLAKE_LEASE_TTL_MS: variable(
    DEFAULT_HORIZON_MS.pool,
    integer(10_000, DAY_MS),
    'database, zk_recycle: how far ahead time is reserved, and time after which an unused worker ID can be reassigned, in ms',
  ),
  LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: variable(
    SNOWFLAKE.maxClockOffsetMs,
    integer(0, DAY_MS),
    'maximum clock offset from the other servers at startup, in ms; 0 disables the check',
  ),
  LEAF_SNOWFLAKE_MAX_BACKWARDS_MS: variable(
    SNOWFLAKE.maxBackwardsMs,
    integer(0, 1000),
    'maximum backward clock step that is tolerated, in ms',
  ),
  LEAF_LOCAL_WORKERS: variable(
    '{"*":0}',
    workers,
    'registry local: JSON object of "ip:port" and worker IDs; "*" matches any address, for a single server',
  ),
  LEAF_ZOOKEEPER: variable(undefined, zookeeperAddress, 'registry zk_normal, zk_recycle: host:port,host:port[/chroot]'),
  LEAF_ZOOKEEPER_AUTH: variable(undefined, zookeeperAuth, 'registry zk_normal, zk_recycle: digest:user:password', true),
  LEAF_PROPERTIES_FILE: variable(
    undefined,
    text(/^[^\0]+$/, 'a path'),
    'path of a leaf.properties file of the Java service; environment variables take precedence',
  ),
  LEAF_ADMIN_TOKEN: variable(
    undefined,
    adminTokens,
    'bearer token of the admin API, 16 characters or more; several as name:token,name2:token2@2030-01-31 with an optional expiry date; default: generated and logged at each start',
    true,
  ),
  LEAF_MAX_CONNECTIONS: variable(
    1000,
    integer(1, 1_000_000),
    'maximum number of connections; others are refused with LEAF_OVERLOADED, except probes and the admin API',
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
    'time between SIGTERM, when the readiness probe starts to fail, and the close of the HTTP server, in ms; Ctrl+C skips it',
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
    'base URL of the OpenTelemetry collector (OTLP over HTTP), such as http://collector:4318; default: no traces',
    true,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'complete URL for traces, including the path; takes precedence',
    true,
  ),
  OTEL_EXPORTER_OTLP_HEADERS: variable(
    undefined,
    otlpHeaders,
    'headers for the collector: key=value,key2=value2',
    true,
  ),
  OTEL_SERVICE_NAME: variable('leaf', text(/^[^\0]+$/, 'a name'), 'service name in traces'),
  OTEL_TRACES_SAMPLER: variable(
    'parentbased_always_on',
    oneOf(...SAMPLERS),
    'sampler: always_on, always_off or traceidratio; with the prefix parentbased_, the decision of the caller takes precedence',
  ),
  OTEL_TRACES_SAMPLER_ARG: variable(1, share, 'share of traces for the ratio samplers, 0 to 1'),
} as const;

type Variables = typeof VARIABLES;
export type VariableName = keyof Variables;
/** The parsed values; undefined where a default depends on others. */
export type Environment = { readonly [Name in VariableName]: ReturnType<Variables[Name]['parse']> | undefined };
