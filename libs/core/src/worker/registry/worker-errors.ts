import { isLeafError, LeafError } from '../../errors/leaf-error';
import type { Clock } from '../../clock/clock';
import { formatInstance, type Instance } from '../records/instance';
import type { LeaseHolder } from '../records/lease-holder';
import type { RegistryHistory, RegistryMemory } from './registry-memory';
import type { FileRecord, WorkerFile } from '../records/worker-file';
import type { StoredWorker, WorkerStore } from '../records/worker-store';

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
    isLeafError(error, 'LEAF_LEASE_LOST') ||
    isLeafError(error, 'LEAF_LAYOUT_MISMATCH') ||
    isLeafError(error, 'LEAF_REGISTRY_MISMATCH')
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

/** Resolves with undefined if the worker ID belongs to another holder. */
export function unlessLost(error: unknown): undefined {
  if (!isLeafError(error, 'LEAF_LEASE_LOST')) throw error;
}

/** A pool without a free worker ID is a conflict for the caller, not a fault of the server. */
export function asConflict(error: unknown): never {
  if (!isLeafError(error, 'LEAF_WORKERS_USED_UP')) throw error;
  throw new LeafError('LEAF_WORKERS_USED_UP', error.message, { cause: error, status: 409 });
}

export function windowNotFound(lease: string): LeafError {
  return new LeafError(
    'LEAF_LEASE_NOT_FOUND',
    `No worker ID is held under the lease ${hidden(lease)}: it was released, or never acquired. Issue no more IDs with its worker ID, and acquire another one with a new lease.`,
  );
}

export function windowLost(lease: string, workerId: number): LeafError {
  return new LeafError(
    'LEAF_LEASE_LOST',
    `The window of worker ${workerId} under the lease ${hidden(lease)} has ended, and the worker ID belongs to another holder. Issue no more IDs with it, and acquire another one with a new lease.`,
    { status: 409 },
  );
}

export function windowCopied(lease: string, workerId: number): LeafError {
  return new LeafError(
    'LEAF_LEASE_LOST',
    `The window of worker ${workerId} under the lease ${hidden(lease)} was extended by another process with the same lease: one is a copy of the other, as a cloned virtual machine has it, and the IDs of both since the copy may be equal. Issue no more IDs with this worker ID, and acquire another one with a new lease.`,
    { status: 409 },
  );
}

export function leaseBusy(lease: string): LeafError {
  return new LeafError(
    'LEAF_NOT_READY',
    `Several requests with the lease ${hidden(lease)} are in progress. Wait, then send the request again with the same lease.`,
    { retryAfterMs: 1000 },
  );
}

export function windowsUsedUp(most: number): LeafError {
  return new LeafError(
    'LEAF_WORKERS_USED_UP',
    most === 0
      ? 'This server gives no worker windows: it may take only one worker ID, and needs it itself. Give it a larger range of worker IDs (the option snowflake.workers), or ask another server.'
      : `All ${most} worker windows are used. Wait until some have ended, release windows when a process stops, request shorter ones, or allow more (the option snowflake.mostWindows; at most three quarters of the worker IDs that this server may take).`,
    { status: 409 },
  );
}

export function timestampBeyond(lastTimestamp: number, until: number): LeafError {
  return new LeafError(
    'LEAF_BODY_INVALID',
    `lastTimestamp (${lastTimestamp}) is after the end of the window (${until}). IDs with timestamps after it may not be unique: check the clock of this process, and that it issues none after the window.`,
  );
}

/** A lease ID is a secret: anyone who has it can release the worker ID. */
function hidden(lease: string): string {
  return `${lease.slice(0, 6)}…`;
}
