import {
  formatInstance,
  LeafError,
  WorkerRegistry,
  type CeilingProposal,
  type LeaseHolder,
  type WorkerClaim,
} from '@leaf/core';

/** What becomes of a write whose answer does not arrive: it never happens, has happened, or happens later. */
export type Fault = 'before' | 'after' | 'late';

export interface WorkerRecord {
  readonly workerId: number;
  readonly instance: string;
  readonly ceiling: number;
  /** Of the last acquisition; undefined after a release. */
  readonly leaseId: string | undefined;
  readonly version: number;
}

/** A write that was applied. */
export interface RecordedWrite {
  readonly kind: 'acquire' | 'extend' | 'release';
  readonly record: WorkerRecord;
  readonly previousCeiling: number;
}

/** The records, which outlive every registry object: the server behind it. */
export class InMemoryWorkerStorage {
  /** Every write that was applied, in order. */
  readonly writes: RecordedWrite[] = [];
  /** Held exclusively, by `ip:port`. */
  readonly locks = new Map<string, InMemoryWorkerRegistry>();
  private readonly records = new Map<string, WorkerRecord>();
  private readonly inFlight: (() => void)[] = [];

  /** @param firstWorkerId of the first record; each new one has the next */
  constructor(private readonly firstWorkerId = 0) {}

  /** The record of `instance`, created when it has none. */
  recordOf(instance: string): WorkerRecord {
    let record = this.records.get(instance);
    if (record === undefined) {
      const workerId = this.firstWorkerId + this.records.size;
      record = { workerId, instance, ceiling: 0, leaseId: undefined, version: 0 };
      this.records.set(instance, record);
    }
    return record;
  }

  /** Writes `next` if its version follows the recorded one; false when somebody else has written. */
  compareAndSet(kind: RecordedWrite['kind'], next: WorkerRecord): boolean {
    const found = this.recordOf(next.instance);
    if (found.version !== next.version - 1) return false;
    this.records.set(next.instance, next);
    this.writes.push({ kind, record: next, previousCeiling: found.ceiling });
    return true;
  }

  postpone(write: () => void): void {
    this.inFlight.push(write);
  }

  /** Lets the writes that were under way for long arrive. */
  deliver(): void {
    for (const write of this.inFlight.splice(0)) write();
  }
}

interface Version {
  readonly instance: string;
  readonly leaseId: string;
  readonly version: number;
}

/**
 * A `WorkerRegistry` in memory: one record for each `ip:port`, compared by version. Shared, a second holder takes the
 * worker over; exclusive, it is refused until the first registry object is closed or has released.
 */
export class InMemoryWorkerRegistry extends WorkerRegistry {
  readonly description: string;
  private fault: Fault | undefined;
  private gate: Promise<void> | undefined;

  constructor(
    readonly storage: InMemoryWorkerStorage,
    private readonly exclusive = false,
  ) {
    super();
    this.description = `memory (${exclusive ? 'exclusive' : 'shared'})`;
  }

  /** The next write rejects with `LEAF_REGISTRY_UNREACHABLE`; undefined takes that back. */
  failNextWrite(fault: Fault | undefined): void {
    this.fault = fault;
  }

  /** Writes wait until the answer is called. */
  holdWrites(): () => void {
    let open = (): void => undefined;
    this.gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  }

  /** Lets go of the locks, as the death of the process does. */
  override close(): Promise<void> {
    this.unlock();
    return Promise.resolve();
  }

  async acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    const instance = formatInstance(holder);
    const taken = this.lock(instance);
    try {
      for (;;) {
        const found = this.storage.recordOf(instance);
        const ceiling = propose(found.ceiling);
        const next = { ...found, ceiling, leaseId: holder.leaseId, version: found.version + 1 };
        if (await this.write('acquire', next)) return claimOf(next, found.ceiling, holder.leaseId);
      }
    } catch (error) {
      if (taken) this.storage.locks.delete(instance);
      throw error;
    }
  }

  async extend(claim: WorkerClaim, ceiling: number): Promise<WorkerClaim> {
    const { instance, leaseId } = versionOf(claim);
    const found = this.owned(claim);
    // An extension of unknown outcome may have recorded more than is asked for now.
    const next = { ...found, ceiling: Math.max(ceiling, found.ceiling), version: found.version + 1 };
    if (await this.write('extend', next)) return claimOf(next, claim.previousCeiling, leaseId);
    throw lost(instance);
  }

  async release(claim: WorkerClaim, ceiling: number): Promise<void> {
    const { instance } = versionOf(claim);
    const found = this.owned(claim);
    const next = { ...found, ceiling, leaseId: undefined, version: found.version + 1 };
    if (!(await this.write('release', next))) throw lost(instance);
    this.unlock();
  }

  /** @returns whether there is a lock to give back */
  private lock(instance: string): boolean {
    const { locks } = this.storage;
    if (!this.exclusive) return false;
    if (locks.has(instance)) throw new LeafError('LEAF_WORKER_HELD', `${instance} is held in ${this.description}.`);
    locks.set(instance, this);
    return true;
  }

  private unlock(): void {
    for (const [instance, owner] of this.storage.locks) {
      if (owner === this) this.storage.locks.delete(instance);
    }
  }

  /** The record as it is now, if nobody but this lease has written since it was acquired. */
  private owned(claim: WorkerClaim): WorkerRecord {
    const { instance, leaseId, version } = versionOf(claim);
    const found = this.storage.recordOf(instance);
    if (found.version < version || found.leaseId !== leaseId) throw lost(instance);
    return found;
  }

  private async write(kind: RecordedWrite['kind'], next: WorkerRecord): Promise<boolean> {
    const { fault } = this;
    this.fault = undefined;
    // Others may write between the read and the write.
    await Promise.resolve();
    await this.gate;
    const apply = (): boolean => this.storage.compareAndSet(kind, next);
    switch (fault) {
      case undefined:
        return apply();
      case 'before':
        break;
      case 'after':
        apply();
        break;
      case 'late':
        this.storage.postpone(apply);
        break;
    }
    throw new LeafError('LEAF_REGISTRY_UNREACHABLE', `${this.description} did not answer to ${kind}.`);
  }
}

function claimOf(record: WorkerRecord, previousCeiling: number, leaseId: string): WorkerClaim {
  const { workerId, ceiling, instance, version } = record;
  return { workerId, previousCeiling, ceiling, version: { instance, leaseId, version } satisfies Version };
}

function versionOf(claim: WorkerClaim): Version {
  return claim.version as Version;
}

function lost(instance: string): LeafError {
  return new LeafError('LEAF_LEASE_LOST', `Somebody else has written the record of ${instance}.`);
}
