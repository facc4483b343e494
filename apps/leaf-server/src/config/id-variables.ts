import { DEFAULT_LAYOUT } from '@leaf-ids/core';
import { LEASE_LIMITS } from '@leaf-ids/core/internal';
import { DEFAULT_FAILOVER_GAP_STEPS } from '@leaf-ids/persistence';
import { DEFAULT_LEASES, leaseOf, STRATEGY_NAMES, type StrategyName } from '@leaf-ids/registry';
import {
  DEFAULT_SEGMENT_MODULE_OPTIONS as SEGMENT,
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS as SNOWFLAKE,
} from '@leaf-ids/id/internal';
import {
  bits,
  databaseUrl,
  databaseUrls,
  durabilitySettings,
  etcdAuth,
  etcdEndpoints,
  flag,
  integer,
  oneOf,
  path,
  ratio,
  sequenceStart,
  tagMap,
  text,
  variable,
  workerRange,
  workers,
  zookeeperAddress,
  zookeeperAuth,
} from './parsers';

const DAY_MS = 86_400_000;
/** Other names, of pages and habits from elsewhere. */
const ALIASES: Readonly<Record<string, StrategyName>> = { mysql_recycle: 'database' };
const listed = oneOf(...STRATEGY_NAMES);

/** Variables of the databases, segment mode, snowflake mode and the worker registries. */
export const ID_VARIABLES = {
  LEAF_DATABASE_URL: variable(
    null,
    databaseUrl,
    'database of the segments: sqlite:<file>, or mysql, mariadb or postgres://user:password@host:port/database, TLS by sslmode=require or verify-full; default: sqlite:<LEAF_DATA_DIR>/leaf.sqlite',
    { option: 'database', secret: true, neverEmpty: true },
  ),
  LEAF_DATABASE_URL_FILE: variable(undefined, path, 'file with the value of LEAF_DATABASE_URL; read at the start', {
    neverEmpty: true,
  }),
  LEAF_DATABASE_URLS: variable(
    undefined,
    databaseUrls,
    'several databases, each with a part of the tags, instead of LEAF_DATABASE_URL: JSON object of names and URLs',
    { option: ['database', 'segment.database.shards'], secret: true, neverEmpty: true },
  ),
  LEAF_DATABASE_TAGS: variable(
    undefined,
    tagMap,
    'with LEAF_DATABASE_URLS: JSON object of tags and database names; a hash of the names distributes all other tags',
    { option: 'segment.database.shards.tags', neverEmpty: true },
  ),
  LEAF_DATABASE_MIGRATE: variable(true, flag, 'creates and updates the tables at startup', { option: 'migrate' }),
  LEAF_DATABASE_ACCEPT: variable(
    null,
    durabilitySettings,
    'settings under which the database can lose a commit, accepted by name: `innodb_flush_log_at_trx_commit`, `sync_binlog`, `wsrep_provider_options`, `fsync`, `synchronous_commit`, separated by commas',
    { option: 'accept' },
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
  LEAF_NUMBERS_KEY: variable(
    undefined,
    text(/^.{16,}$/, 'at least 16 characters'),
    'secret of at least 16 characters for the hashes in the journals of gapless tags; all servers of the database need the same',
    { option: 'segment.database.numbers.key', secret: true, neverEmpty: true },
  ),
  LEAF_NUMBERS_KEY_FILE: variable(undefined, path, 'file with the value of LEAF_NUMBERS_KEY', { neverEmpty: true }),
  LEAF_NUMBERS_SYNC: variable(
    false,
    flag,
    'gapless tags go on after a failover without a question: only if the database acknowledges no commit that its next primary does not have',
  ),
  LEAF_SNOWFLAKE_REGISTRY: variable(
    null,
    (value) => ALIASES[value] ?? listed(value),
    'source of the worker IDs: database (a pool in LEAF_DATABASE_URL; alias mysql_recycle), mysql (a row for each address there), zk_normal, zk_recycle, etcd, kubernetes or local; default: database; local with LEAF_LOCAL_WORKERS',
    { option: 'snowflake.registry', neverEmpty: true },
  ),
  LEAF_SNOWFLAKE_OFFLINE: variable(
    'refuse',
    oneOf('refuse', 'local_file'),
    'zk_normal, mysql: behaviour while the registry is unreachable; refuse stops at the recorded ceiling, local_file continues from a file, which is safe only if no other process uses this address',
  ),
  LEAF_SNOWFLAKE_BITS: variable(
    [DEFAULT_LAYOUT.timeBits, DEFAULT_LAYOUT.workerBits, DEFAULT_LAYOUT.sequenceBits].join(','),
    bits,
    'bits of time, worker ID and sequence, at most 63 in total; 41,5+5,12 divides the worker ID into data center and machine',
    { option: 'snowflake.layout', neverEmpty: true },
  ),
  LEAF_SNOWFLAKE_EPOCH: variable(
    DEFAULT_LAYOUT.epoch,
    integer(0, Number.MAX_SAFE_INTEGER),
    'epoch of snowflake IDs, in Unix ms; the default is 2010-11-04T01:42:54.657Z',
    { option: 'snowflake.layout', neverEmpty: true },
  ),
  LEAF_SNOWFLAKE_WORKERS: variable(
    undefined,
    workerRange,
    'worker IDs that this server may take and hand out, such as 96-127, for regions that have registries of their own; default: all; for local, LEAF_LOCAL_WORKERS must agree; not for mysql and zk_normal',
    { option: 'snowflake.workers', neverEmpty: true },
  ),
  LEAF_SNOWFLAKE_DATACENTER: variable(
    undefined,
    integer(0, 2 ** 21 - 1),
    'number of the data center, which limits the worker IDs as LEAF_SNOWFLAKE_WORKERS does; needs data center bits in LEAF_SNOWFLAKE_BITS',
    { option: 'snowflake.datacenter', neverEmpty: true },
  ),
  LEAF_SNOWFLAKE_REPORT_MS: variable(
    null,
    integer(100, 3_600_000),
    `interval of the reports to the worker registry, in ms; default: ${DEFAULT_LEASES.pool.reportMs}, with kubernetes ${leaseOf('kubernetes').reportMs}; at most that where servers share the registry`,
    { option: 'snowflake.reportMs' },
  ),
  // Its bounds depend on the registry: `contradictions` checks them.
  LEAF_SNOWFLAKE_LEASE_TTL_MS: variable(
    null,
    integer(0, Number.MAX_SAFE_INTEGER),
    `lease TTL: how far ahead time is reserved, in ms; local, mysql, zk_normal: a start after a crash waits up to this long; database, zk_recycle, etcd, kubernetes: time after which an unused worker ID can be reassigned; default: ${DEFAULT_LEASES.fixed.leaseTtlMs}, with database, zk_recycle and etcd ${DEFAULT_LEASES.pool.leaseTtlMs}, with kubernetes ${leaseOf('kubernetes').leaseTtlMs}`,
    { option: 'snowflake.leaseTtlMs', formerly: ['LEAF_SNOWFLAKE_HORIZON_MS'] },
  ),
  LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: variable(
    SNOWFLAKE.maxClockOffsetMs,
    integer(0, DAY_MS),
    `maximum clock offset from the other servers at startup, in ms; 0 disables the check; at most ${LEASE_LIMITS.clockOffsetMs} where servers share the registry`,
    { option: 'snowflake.maxClockOffsetMs' },
  ),
  LEAF_SNOWFLAKE_MAX_BACKWARDS_MS: variable(
    SNOWFLAKE.maxBackwardsMs,
    integer(0, 1000),
    'maximum backward clock step that is tolerated, in ms',
  ),
  LEAF_SNOWFLAKE_SEQUENCE_START: variable(
    SNOWFLAKE.sequenceStart,
    sequenceStart,
    'a new millisecond starts its sequence at a random number below this; full: the whole sequence; 0: always at 0',
    { option: 'snowflake.sequenceStart' },
  ),
  LEAF_LOCAL_WORKERS: variable(
    '{"*":0}',
    workers,
    'registry local: JSON object of "ip:port" and worker IDs; "*" matches any address, for a single server',
    { option: 'snowflake.registry.workers', neverEmpty: true },
  ),
  LEAF_ZOOKEEPER: variable(
    undefined,
    zookeeperAddress,
    'registry zk_normal, zk_recycle: host:port,host:port[/chroot]',
    { option: 'snowflake.registry.zookeeper.address', neverEmpty: true },
  ),
  LEAF_ZOOKEEPER_AUTH: variable(undefined, zookeeperAuth, 'registry zk_normal, zk_recycle: digest:user:password', {
    option: 'snowflake.registry.zookeeper.auth',
    secret: true,
  }),
  // Secret, because a URL with credentials by mistake must not be shown.
  LEAF_ETCD_ENDPOINTS: variable(
    undefined,
    etcdEndpoints,
    'registry etcd: https://host:port,https://host:port, one for each member',
    { option: 'snowflake.registry.etcd.endpoints', secret: true, neverEmpty: true },
  ),
  LEAF_ETCD_AUTH: variable(undefined, etcdAuth, 'registry etcd: user:password', {
    option: 'snowflake.registry.etcd.auth',
    secret: true,
  }),
  LEAF_ETCD_TLS_CA_FILE: variable(
    undefined,
    path,
    'registry etcd: PEM file of the trusted certificate authorities; default: those that Node.js trusts',
  ),
  LEAF_ETCD_TLS_CERT_FILE: variable(undefined, path, 'registry etcd: PEM file of the client certificate', {
    option: 'snowflake.registry.etcd.certFile',
  }),
  LEAF_ETCD_TLS_KEY_FILE: variable(undefined, path, 'registry etcd: PEM file of its key', {
    option: 'snowflake.registry.etcd.keyFile',
  }),
  LEAF_KUBERNETES_POD_INDEX: variable(
    undefined,
    integer(0, 1_000_000),
    'registry kubernetes: worker ID to take if it is free, such as the number of the pod in its StatefulSet; default: any',
  ),
  LEAF_KUBERNETES_DIR: variable(
    undefined,
    path,
    'registry kubernetes: directory with the files token, ca.crt and namespace; default: where Kubernetes mounts them',
  ),
  KUBERNETES_SERVICE_HOST: variable(
    undefined,
    text(/^[A-Za-z0-9._:-]{1,253}$/, 'an IP address or a host name'),
    'registry kubernetes: address of the API server, which Kubernetes sets in each pod',
    { option: 'snowflake.registry.kubernetes.server' },
  ),
  KUBERNETES_SERVICE_PORT: variable(443, integer(1, 65_535), 'registry kubernetes: port of the API server, likewise'),
} as const;
