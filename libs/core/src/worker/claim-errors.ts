import { hasCode, LeafError } from '../errors/leaf-error';
import { formatInstance, type Instance } from './instance';

/** @param relation what was read instead of the own record: `another`, `gone` or `behind` */
export function leaseLost(workerId: number, registry: string, instance: Instance, relation: string): LeafError {
  const why: Record<string, string> = {
    another: `another server has written its record. Make sure that no other server uses the address and port ${formatInstance(instance)} (the option snowflake.instance)`,
    gone: 'its record was removed. Do not change the records by hand',
    behind: 'its record was reset to an earlier one. Do not change the records by hand',
  };
  return new LeafError(
    'LEAF_LEASE_LOST',
    `This server no longer holds worker ${workerId} of ${registry}: ${why[relation] ?? relation}, and restart this server.`,
  );
}

/** Whether the error of a report is final: the worker ID, or the whole registry, belongs to others (R3, R6). */
export function endsLease(error: unknown): error is LeafError {
  return (
    hasCode(error, 'LEAF_LEASE_LOST') ||
    hasCode(error, 'LEAF_LAYOUT_MISMATCH') ||
    hasCode(error, 'LEAF_REGISTRY_MISMATCH')
  );
}

export function recordContested(workerId: number, registry: string, problem: string): LeafError {
  return new LeafError(
    'LEAF_REGISTRY_UNREACHABLE',
    `The record of worker ${workerId} in ${registry} ${problem}. This server retries automatically.`,
    { retryAfterMs: 1000 },
  );
}
