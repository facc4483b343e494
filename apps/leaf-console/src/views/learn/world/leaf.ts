// All that the page takes from the libraries: the shipped lease, registry and generator.
export { BitLayout, Clock, DEFAULT_LAYOUT, type Instance, LeafError, WorkerRegistry } from '@leaf-ids/core';
export { DEFAULT_SNOWFLAKE_OPTIONS, SnowflakeGenerator, WorkerLease, type WorkerPolicy } from '@leaf-ids/core/internal';
export { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
export { FixedPolicy } from '../../../../../../libs/registry/src/policies/fixed-policy';
export { PoolPolicy } from '../../../../../../libs/registry/src/policies/pool-policy';
