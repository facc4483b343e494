import { hasCode, LeafError } from '../errors/leaf-error';

/** Resolves with undefined if the worker ID belongs to another holder. */
export function unlessLost(error: unknown): undefined {
  if (!hasCode(error, 'LEAF_LEASE_LOST')) throw error;
}

/** A pool without a free worker ID is a conflict for the caller, not a fault of the server. */
export function asConflict(error: unknown): never {
  if (!hasCode(error, 'LEAF_WORKERS_USED_UP')) throw error;
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
    `All ${most} worker windows are used. Wait until some have ended, release windows when a process stops, request shorter ones, or allow more (the option snowflake.mostWindows).`,
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
