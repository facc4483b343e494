import { LeafError } from '../errors/leaf-error';
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

export function recordContested(workerId: number, registry: string, problem: string): LeafError {
  return new LeafError(
    'LEAF_REGISTRY_UNREACHABLE',
    `The record of worker ${workerId} in ${registry} ${problem}. This server retries automatically.`,
    { retryAfterMs: 1000 },
  );
}
