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
    variable(
      undefined,
      text(/^[^\0]+$/, 'a path'),
      'a file with the same, in place of LEAF_DATABASE_URL; read at the start',
    ),
  ),
  LEAF_DATABASE_URLS: neverEmpty(
    variable(
      undefined,
      databaseUrls,
      'several databases, each tag on one of them, in place of LEAF_DATABASE_URL: name to URL as JSON',
      true,
    ),
  ),
  LEAF_DATABASE_TAGS: neverEmpty(
    variable(
      undefined,
      tagMap,
      'with LEAF_DATABASE_URLS: tag to name as JSON; other tags are spread by a hash of the names',
    ),
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
  LEAF_SNOWFLAKE_REGISTRY: neverEmpty(
    variable(
      undefined,
      registry,
      'where worker IDs come from: database (a pool in LEAF_DATABASE_URL; alias mysql_recycle), mysql (a row for each address there), zk_normal, zk_recycle or local; default: database beside a database server, else local',
    ),
  ),
  LEAF_SNOWFLAKE_OFFLINE: variable(
    'local_file',
    oneOf('local_file', 'refuse'),
    'zk_normal, mysql while the registry is away: local_file goes on from a file, refuse stops at the recorded ceiling',
  ),
  LEAF_SNOWFLAKE_BITS: neverEmpty(
    variable(
      [DEFAULT_LAYOUT.timeBits, DEFAULT_LAYOUT.workerBits, DEFAULT_LAYOUT.sequenceBits].join(','),
      bits,
      'bits of time, worker ID and sequence, at most 63 in all',
    ),
  ),
  LEAF_SNOWFLAKE_EPOCH: neverEmpty(
    variable(
      DEFAULT_LAYOUT.epoch,
      integer(0, Number.MAX_SAFE_INTEGER),
      'time zero of snowflake IDs, in Unix ms; the default is 2010-11-04T01:42:54.657Z',
    ),
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
  LEAF_LOCAL_WORKERS: neverEmpty(
    variable('{"*":0}', workers, 'registry local: "ip:port" to worker ID as JSON; * is any, for a single server'),
  ),
  LEAF_ZOOKEEPER: neverEmpty(
    variable(undefined, zookeeperAddress, 'registry zk_normal, zk_recycle: host:port,host:port[/chroot]'),
  ),
  LEAF_ZOOKEEPER_AUTH: variable(undefined, zookeeperAuth, 'registry zk_normal, zk_recycle: digest:user:password', true),
} as const;
