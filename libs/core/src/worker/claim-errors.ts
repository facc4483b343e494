import { LeafError } from '../errors/leaf-error';
import { formatInstance, type Instance } from './instance';

/** @param relation what was read back in place of the record: `another`, `gone` or `behind` */
export function leaseLost(workerId: number, registry: string, instance: Instance, relation: string): LeafError {
  const why: Record<string, string> = {
    another: `another server has written its record. Give no other server the address and port ${formatInstance(instance)} (LEAF_ADVERTISE_HOST, LEAF_ADVERTISE_PORT; embedded: snowflake.instance)`,
    gone: 'its record was removed. Leave the records to the servers',
    behind: 'its record was set back to an earlier one. Leave the records to the servers',
  };
  return new LeafError(
    'LEAF_LEASE_LOST',
    `Worker ${workerId} of ${registry} is no longer held by this server: ${why[relation] ?? relation}, and restart this server.`,
  );
}

export function recordContested(workerId: number, registry: string, problem: string): LeafError {
  return new LeafError(
    'LEAF_REGISTRY_UNREACHABLE',
    `The record of worker ${workerId} in ${registry} ${problem}. This server tries again by itself.`,
    { retryAfterMs: 1000 },
  );
}
