import { DEFAULT_LAYOUT } from '@leaf-ids/core';
import { DEFAULT_FAILOVER_GAP_STEPS } from '@leaf-ids/persistence';
import { DEFAULT_HORIZON_MS } from '@leaf-ids/registry';
import { DEFAULT_SEGMENT_MODULE_OPTIONS as SEGMENT } from '@leaf-ids/segment';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS as SNOWFLAKE } from '@leaf-ids/snowflake';
import {
  bits,
  databaseUrl,
  databaseUrls,
  durabilitySettings,
  flag,
  integer,
  oneOf,
  ratio,
  tagMap,
  text,
  workers,
  zookeeperAddress,
  zookeeperAuth,
} from './parsers';
import { registry } from './registry';
import { neverEmpty, variable } from './variable';

const DAY_MS = 86_400_000;

/** Of the databases, segment mode, snowflake mode and the worker registries. */
export const ID_VARIABLES = {
  LEAF_DATABASE_URL: neverEmpty(
    variable(
      undefined,
      databaseUrl,
      'database of the segments: sqlite:<file>, or mysql, mariadb or postgres://user:password@host:port/database, TLS by sslmode=require or verify-full; default: sqlite:<LEAF_DATA_DIR>/leaf.sqlite',
      true,
    ),
  ),
  LEAF_DATABASE_URL_FILE: neverEmpty(
    variable(undefined, text(/^[^\0]+$/, 'a path'), 'file with the value of LEAF_DATABASE_URL; read at the start'),
  ),
  LEAF_DATABASE_URLS: neverEmpty(
    variable(
      undefined,
      databaseUrls,
      'several databases, each with a part of the tags, instead of LEAF_DATABASE_URL: JSON object of names and URLs',
      true,
    ),
  ),
  LEAF_DATABASE_TAGS: neverEmpty(
    variable(
      undefined,
      tagMap,
      'with LEAF_DATABASE_URLS: JSON object of tags and database names; a hash of the names distributes all other tags',
    ),
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
  LEAF_SNOWFLAKE_REGISTRY: neverEmpty(
    variable(
      undefined,
      registry,
      'source of the worker IDs: database (a pool in LEAF_DATABASE_URL; alias mysql_recycle), mysql (a row for each address there), zk_normal, zk_recycle or local; default: database with a database server, otherwise local',
    ),
  ),
  LEAF_SNOWFLAKE_OFFLINE: variable(
    'local_file',
    oneOf('local_file', 'refuse'),
    'zk_normal, mysql: behaviour while the registry is unreachable; local_file continues from a file, refuse stops at the recorded ceiling',
  ),
  LEAF_SNOWFLAKE_BITS: neverEmpty(
    variable(
      [DEFAULT_LAYOUT.timeBits, DEFAULT_LAYOUT.workerBits, DEFAULT_LAYOUT.sequenceBits].join(','),
      bits,
      'bits of time, worker ID and sequence, at most 63 in total',
    ),
  ),
  LEAF_SNOWFLAKE_EPOCH: neverEmpty(
    variable(
      DEFAULT_LAYOUT.epoch,
      integer(0, Number.MAX_SAFE_INTEGER),
      'epoch of snowflake IDs, in Unix ms; the default is 2010-11-04T01:42:54.657Z',
    ),
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
  LEAF_LOCAL_WORKERS: neverEmpty(
    variable(
      '{"*":0}',
      workers,
      'registry local: JSON object of "ip:port" and worker IDs; "*" matches any address, for a single server',
    ),
  ),
  LEAF_ZOOKEEPER: neverEmpty(
    variable(undefined, zookeeperAddress, 'registry zk_normal, zk_recycle: host:port,host:port[/chroot]'),
  ),
  LEAF_ZOOKEEPER_AUTH: variable(undefined, zookeeperAuth, 'registry zk_normal, zk_recycle: digest:user:password', true),
  LEAF_JAVA_WORKER_FILE: variable(
    undefined,
    text(/^[^\0]+$/, 'a path'),
    'registry zk_normal: worker file of the stopped Java server at this address; a first start uses its worker ID if ZooKeeper is unreachable; default: none',
  ),
} as const;
