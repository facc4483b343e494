import { join, resolve } from 'node:path';
import { firstAddress, type HostAddresses } from '@leaf-ids/core/internal';
import { leaseOf } from '@leaf-ids/registry';
import type { DerivedDefaults, Resolved } from './variables';

/** @param values of the variables that are set, or have a default of their own */
export function withDerivedDefaults(
  values: Partial<Resolved>,
  env: NodeJS.ProcessEnv,
  terminal: boolean,
  addresses: HostAddresses,
): Resolved {
  const {
    LEAF_PORT = 0,
    LEAF_DATA_DIR = '',
    LEAF_SNOWFLAKE_REGISTRY: registry = defaultRegistry(values, env),
  } = values;
  const lease = leaseOf(registry);
  const derived: DerivedDefaults = {
    LEAF_HOST: anyAddress(addresses),
    LEAF_ADVERTISE_HOST: firstAddress(addresses),
    LEAF_ADVERTISE_PORT: LEAF_PORT,
    LEAF_DATABASE_ACCEPT: [],
    LEAF_DATABASE_URL: `sqlite:${join(resolve(LEAF_DATA_DIR), 'leaf.sqlite')}`,
    LEAF_LOG_FORMAT: terminal ? 'pretty' : 'json',
    LEAF_SNOWFLAKE_REGISTRY: registry,
    LEAF_SNOWFLAKE_REPORT_MS: lease.reportMs,
    LEAF_SNOWFLAKE_LEASE_TTL_MS: lease.leaseTtlMs,
  };
  return { ...derived, ...values } as Resolved;
}

/**
 * Servers and embedded applications on one database share its pool of workers, also on an SQLite file. With several
 * databases, one of them must be named for the pool.
 */
function defaultRegistry(values: Partial<Resolved>, env: NodeJS.ProcessEnv): Resolved['LEAF_SNOWFLAKE_REGISTRY'] {
  const isUnnamed = values.LEAF_DATABASE_URL === undefined && values.LEAF_DATABASE_URLS !== undefined;
  return isUnnamed || env.LEAF_LOCAL_WORKERS ? 'local' : 'database';
}

/** `::` takes IPv4 connections as well. */
function anyAddress(addresses: HostAddresses): string {
  const families = Object.values(addresses).flatMap((list) => (list ?? []).map(({ family }) => family));
  return families.includes('IPv6') ? '::' : '0.0.0.0';
}

/** Whether a server with this `LEAF_HOST` listens on all addresses of its host. */
export function isWildcard(host: string): boolean {
  return host === '::' || host === '0.0.0.0';
}
