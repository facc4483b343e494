import { join, resolve } from 'node:path';
import { formatInstance, type SegmentStore, SystemClock } from '@leaf-ids/core';
import { LoggedSegmentStore, stepFile, StepLog } from '@leaf-ids/core/internal';
import type { SegmentModuleOptions, SnowflakeModuleOptions } from '@leaf-ids/id';
import { leafRule, workerRangeOf } from '@leaf-ids/id/internal';
import { FIRST_TAG } from '@leaf-ids/persistence';
import { registryFromSettings, type RegistryOptions, type RegistrySettings } from '@leaf-ids/registry';
import { type Resolved, variablesOf } from './variables';

/** A mode that is omitted is disabled. */
export interface IdOptions {
  readonly segment?: SegmentModuleOptions;
  readonly snowflake?: SnowflakeModuleOptions;
}

/** The options of the libraries. */
export function idsOf(values: Resolved): IdOptions {
  const { LEAF_STEP_LOG: directory } = values;
  const log = directory === undefined ? undefined : new StepLog(new SystemClock(), stepFile(resolve(directory)));
  const wrapStore = log && ((store: SegmentStore): SegmentStore => new LoggedSegmentStore(store, log));
  return {
    ...(values.LEAF_SEGMENT_ENABLED && { segment: { ...segmentOf(values), ...(wrapStore && { wrapStore }) } }),
    ...(values.LEAF_SNOWFLAKE_ENABLED && { snowflake: { ...snowflakeOf(values), ...(log && { stepLog: log }) } }),
  };
}

/** The faults of the options by the rules of the libraries, under the names of variables. */
export function optionFaults(ids: IdOptions): string[] {
  return leafRule(ids, '').map(({ path, fault }) => `${variablesOf(path) ?? path} ${fault}`);
}

function segmentOf(values: Resolved): SegmentModuleOptions {
  const common = {
    migrate: values.LEAF_DATABASE_MIGRATE,
    firstTag: FIRST_TAG,
    accept: values.LEAF_DATABASE_ACCEPT,
    failoverGapSteps: values.LEAF_SEGMENT_FAILOVER_GAP_STEPS,
    numbers: { ...(values.LEAF_NUMBERS_KEY && { key: values.LEAF_NUMBERS_KEY }), sync: values.LEAF_NUMBERS_SYNC },
  };
  const { LEAF_DATABASE_URL: url, LEAF_DATABASE_URLS: databases, LEAF_DATABASE_TAGS: tags } = values;
  return {
    database:
      databases === undefined ? { url, ...common } : { shards: { databases, ...(tags && { tags }) }, ...common },
    waitMs: values.LEAF_SEGMENT_WAIT_MS,
    refreshMs: values.LEAF_SEGMENT_REFRESH_MS,
    prefetchRatio: values.LEAF_SEGMENT_PREFETCH_RATIO,
    durationMs: values.LEAF_SEGMENT_DURATION_MS,
    maxStep: values.LEAF_SEGMENT_MAX_STEP,
    hotTagsFile: join(resolve(values.LEAF_DATA_DIR), values.LEAF_NAME, 'hot-tags.json'),
    tagEndsFile: join(resolve(values.LEAF_DATA_DIR), values.LEAF_NAME, 'tag-ends.json'),
  };
}

function snowflakeOf(values: Resolved): SnowflakeModuleOptions {
  return {
    registry: registryOf(values),
    ...limitOf(values),
    instance: { ip: values.LEAF_ADVERTISE_HOST, port: values.LEAF_ADVERTISE_PORT },
    reportMs: values.LEAF_SNOWFLAKE_REPORT_MS,
    leaseTtlMs: values.LEAF_SNOWFLAKE_LEASE_TTL_MS,
    maxClockOffsetMs: values.LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS,
    maxBackwardsMs: values.LEAF_SNOWFLAKE_MAX_BACKWARDS_MS,
    sequenceStart: values.LEAF_SNOWFLAKE_SEQUENCE_START,
    mostWindows: values.LEAF_WORKER_WINDOWS,
    // The server serves segment IDs meanwhile.
    waitForWorker: false,
  };
}

/** The layout, and the worker IDs of it that this server may have. */
export function limitOf(values: Resolved): Pick<SnowflakeModuleOptions, 'layout' | 'workers' | 'datacenter'> {
  const { LEAF_SNOWFLAKE_WORKERS: workers, LEAF_SNOWFLAKE_DATACENTER: datacenter } = values;
  return {
    layout: { ...values.LEAF_SNOWFLAKE_BITS, epoch: values.LEAF_SNOWFLAKE_EPOCH },
    ...(workers !== undefined && { workers }),
    ...(datacenter !== undefined && { datacenter }),
  };
}

function registryOf(values: Resolved): RegistryOptions {
  const { LEAF_NAME: name, LEAF_ZOOKEEPER: address, LEAF_ZOOKEEPER_AUTH: auth } = values;
  // The advertised port may be only a name, like that of the Java service; requests for the time need the real one.
  const instance = { ip: values.LEAF_ADVERTISE_HOST, port: values.LEAF_PORT || values.LEAF_ADVERTISE_PORT };
  return registryFromSettings(values.LEAF_SNOWFLAKE_REGISTRY, {
    name,
    directory: join(resolve(values.LEAF_DATA_DIR), name),
    fileFallback: values.LEAF_SNOWFLAKE_OFFLINE === 'local_file',
    databaseUrl: values.LEAF_DATABASE_URL,
    migrate: values.LEAF_DATABASE_MIGRATE,
    accept: values.LEAF_DATABASE_ACCEPT,
    localWorkers: values.LEAF_LOCAL_WORKERS,
    zookeeper: { ...(address && { address }), ...(auth && { auth }) },
    etcd: etcdOf(values),
    kubernetes: kubernetesOf(values),
    url: `http://${formatInstance(instance)}`,
  });
}

function etcdOf(values: Resolved): RegistrySettings['etcd'] {
  const { LEAF_ETCD_ENDPOINTS: endpoints, LEAF_ETCD_AUTH: auth, LEAF_ETCD_TLS_CA_FILE: caFile } = values;
  const { LEAF_ETCD_TLS_CERT_FILE: certFile, LEAF_ETCD_TLS_KEY_FILE: keyFile } = values;
  return {
    ...(endpoints && { endpoints }),
    ...(auth && { auth }),
    ...(caFile && { caFile }),
    ...(certFile && { certFile }),
    ...(keyFile && { keyFile }),
  };
}

function kubernetesOf(values: Resolved): RegistrySettings['kubernetes'] {
  const { KUBERNETES_SERVICE_HOST: ip, KUBERNETES_SERVICE_PORT: port, LEAF_KUBERNETES_DIR: directory } = values;
  const { LEAF_KUBERNETES_POD_INDEX: index } = values;
  const server = ip && { server: `https://${formatInstance({ ip, port })}` };
  return {
    ...server,
    ...(directory && { directory }),
    ...(index === undefined ? {} : { preferredWorkerId: (workerRangeOf(limitOf(values))?.first ?? 0) + index }),
  };
}
