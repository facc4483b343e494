import {
  type CeilingProposal,
  type Clock,
  formatInstance,
  LeafError,
  type LeaseHolder,
  type WorkerClaim,
  type Peer,
  type TimeSource,
  WorkerRegistry,
  type WorkerUsage,
} from '@leaf/core';
import type { WorkerRow, WorkerTable } from '@leaf/persistence';

/** A twin on the same `ip:port` can get in between a read and its compare-and-set, but not for ever. */
const ATTEMPTS = 20;

/**
 * Worker IDs from the table `leaf_workerid_alloc`: the row of an `ip:port`, its `id` the worker ID, `max_timestamp` the
 * ceiling. What a write compares is the ceiling and the lease ID that it read, so that a twin on the same `ip:port` is
 * told from a write of our own whose answer was lost.
 */
export class SqlWorkerRegistry extends WorkerRegistry {
  readonly description: string;

  /** @param maxWorkerId highest worker ID that the bit layout holds */
  constructor(
    private readonly table: WorkerTable,
    private readonly maxWorkerId: number,
    private readonly clock: Clock,
  ) {
    super();
    this.description = `mysql (${table.description})`;
  }

  async acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const row = await this.row(holder);
      const ceiling = propose(row.ceiling);
      if (await this.reached(() => this.table.write(row, { ceiling, leaseId: holder.leaseId }))) {
        return { workerId: row.id, previousCeiling: row.ceiling, ceiling, version: holder.leaseId };
      }
    }
    throw new LeafError(
      'LEAF_WORKER_HELD',
      `Worker of ${formatInstance(holder)} in ${this.description} was taken over by others ${ATTEMPTS} times in a row. Give every server an address and port of its own: LEAF_ADVERTISE_HOST, LEAF_ADVERTISE_PORT.`,
    );
  }

  async extend(claim: WorkerClaim, ceiling: number): Promise<WorkerClaim> {
    const leaseId = claim.version as string;
    const recorded = await this.rewrite(claim, (known) => ({ ceiling: Math.max(ceiling, known), leaseId }));
    return { ...claim, ceiling: recorded };
  }

  async release(claim: WorkerClaim, ceiling: number): Promise<void> {
    await this.rewrite(claim, () => ({ ceiling, leaseId: undefined }));
  }

  override async timeSources(): Promise<TimeSource[]> {
    if ((await this.reached(() => this.table.now())) === undefined) return [];
    return [{ name: 'the database', ask: async () => (await this.table.now()) ?? NaN }];
  }

  override peers(): Promise<Peer[]> {
    return this.reached(() => this.table.reservedAbove(this.clock.now()));
  }

  /** The database numbers new rows from 1 upwards: what lies below the highest is not given again. */
  override async usage(): Promise<WorkerUsage> {
    const highest = await this.reached(() => this.table.highestId());
    return { used: Math.min(highest, this.maxWorkerId), most: this.maxWorkerId };
  }

  override close(): Promise<void> {
    return this.table.close();
  }

  /**
   * A compare that fails may mean that an extension of our own was carried out without an answer: then the row has our
   * lease ID and a ceiling above the one we know. Anything else was written by somebody else.
   *
   * @returns the ceiling that was recorded
   */
  private async rewrite(
    claim: WorkerClaim,
    next: (known: number) => Pick<WorkerRow, 'ceiling' | 'leaseId'>,
  ): Promise<number> {
    let known: WorkerRow = { id: claim.workerId, ceiling: claim.ceiling, leaseId: claim.version as string };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const wanted = next(known.ceiling);
      if (await this.reached(() => this.table.write(known, wanted))) return wanted.ceiling;
      const found = await this.reached(() => this.table.find(claim.workerId));
      if (found === undefined || found.leaseId !== known.leaseId || found.ceiling <= known.ceiling) break;
      known = found;
    }
    throw new LeafError(
      'LEAF_LEASE_LOST',
      `Worker ${claim.workerId} of ${this.description} was taken over by another server with this address and port, its row was removed, or its database lost updates in a failover. Give every server an address and port of its own, and restart this one.`,
    );
  }

  private async row(holder: LeaseHolder): Promise<WorkerRow> {
    const name = formatInstance(holder);
    const row = await this.reached(() => this.table.provide(holder, name));
    if (row.id <= this.maxWorkerId) return row;
    throw new LeafError(
      'LEAF_WORKERS_USED_UP',
      `${this.description} gave ${name} worker ID ${row.id}, but the bit layout holds 0 to ${this.maxWorkerId}. Remove rows of servers that are gone for good, let this one have one of their IDs, or use the registry zk_recycle.`,
    );
  }

  /** A fault of the table is one of the registry; whether a write was carried out is not known then. */
  private async reached<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof LeafError) || error.code !== 'LEAF_STORE_UNAVAILABLE') throw error;
      throw new LeafError(
        'LEAF_REGISTRY_UNREACHABLE',
        `The worker registry ${this.description} does not answer; the log of this server says how. It goes on by itself when it does.`,
        { cause: error.cause, retryAfterMs: 1000 },
      );
    }
  }
}
