import { hasCode, LeafError } from '../errors/leaf-error';
import type { Clock } from '../clock/clock';
import { formatInstance, type Instance } from './instance';
import type { LeaseHolder } from './lease-holder';
import type { RegistryHistory, RegistryMemory } from './registry-memory';
import type { FileRecord, WorkerFile } from './worker-file';
import type { StoredWorker, WorkerStore } from './worker-store';

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

/** Shared by all claims of one server. */
export interface ClaimContext {
  /** Name of the registry for operators. */
  readonly description: string;
  readonly layout: string;
  readonly store: WorkerStore;
  readonly memory: RegistryMemory;
  readonly file: WorkerFile | undefined;
  readonly clock: Clock;
  /** Largest offset between the clocks of two servers, in milliseconds. */
  readonly clockOffsetMs: number;
  /**
   * Whether a record belongs to one `ip:port`: the lease of another process in it means that a second server with this
   * address is running.
   */
  readonly exclusive: boolean;
  /** @throws LeafError `LEAF_CLOCK_OFFSET` when our clock differs too much from those of other servers */
  readonly compareClock: (holder: LeaseHolder) => Promise<unknown>;
}

/** The initial state of a claim. */
export interface ClaimStart {
  readonly workerId: number;
  readonly floor: number;
  readonly ceiling: number;
  /** The registry that assigned it. */
  readonly registry: RegistryHistory;
  /** Undefined after a start from the worker file: the registry has not confirmed the claim yet. */
  readonly stored: StoredWorker | undefined;
  /** The worker file of the previous process. */
  readonly before: FileRecord | undefined;
}
