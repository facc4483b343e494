import { join } from 'node:path';
import {
  type CeilingProposal,
  formatInstance,
  LeafError,
  type LeaseHolder,
  type WorkerClaim,
  WorkerRegistry,
} from '@leaf/core';
import { type ExclusiveLock, lockDirectory } from './exclusive-lock';
import { readWorkerRecord, writeWorkerRecord, type WorkerRecord } from './worker-record';

/** Stands for any instance in the map of workers. */
const ANY = '*';

interface Holding {
  readonly lock: ExclusiveLock;
  readonly path: string;
  readonly record: WorkerRecord;
}

/**
 * Worker IDs from a configured map, recorded in one file a worker beside an exclusive lock. The lock is the compare of
 * the compare-and-set: as long as it is held, nobody else writes the record.
 *
 * It sees one directory only. Servers with directories of their own must be given worker IDs of their own.
 */
export class LocalWorkerRegistry extends WorkerRegistry {
  readonly description: string;
  private readonly holdings = new Map<string, Holding>();

  /**
   * @param workers `ip:port` → worker ID; `*` stands for any instance
   * @param directory where the records are kept; made when it is missing
   */
  constructor(
    private readonly workers: Readonly<Record<string, number>>,
    private readonly directory: string,
  ) {
    super();
    this.description = `local (${directory})`;
  }

  async acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    const workerId = this.workerOf(holder);
    const directory = join(this.directory, `worker-${workerId}`);
    const path = join(directory, 'workerID.json');
    const lock = await this.lock(directory, path, workerId);
    try {
      const previousCeiling = (await readWorkerRecord(path, workerId))?.timestamp ?? 0;
      const { ip, port, leaseId } = holder;
      const timestamp = propose(previousCeiling);
      const record = { ip, port: String(port), workId: workerId, timestamp, leaseId, pid: process.pid };
      await this.write({ lock, path, record });
      return { workerId, previousCeiling, ceiling: timestamp, version: leaseId };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async extend(claim: WorkerClaim, ceiling: number): Promise<WorkerClaim> {
    await this.rewrite(claim, ceiling);
    return { ...claim, ceiling };
  }

  async release(claim: WorkerClaim, ceiling: number): Promise<void> {
    const { lock } = this.holdingOf(claim);
    try {
      await this.rewrite(claim, ceiling);
    } finally {
      this.holdings.delete(claim.version as string);
      lock.release();
    }
  }

  override close(): Promise<void> {
    for (const { lock } of this.holdings.values()) lock.release();
    this.holdings.clear();
    return Promise.resolve();
  }

  private workerOf(holder: LeaseHolder): number {
    const workerId = this.workers[formatInstance(holder)] ?? this.workers[ANY];
    if (workerId !== undefined) return workerId;
    throw new LeafError(
      'LEAF_WORKER_UNASSIGNED',
      `LEAF_LOCAL_WORKERS has no worker ID for ${formatInstance(holder)}: it lists ${Object.keys(this.workers).join(', ')}. Add this instance, or set LEAF_ADVERTISE_HOST and LEAF_ADVERTISE_PORT to the one meant.`,
    );
  }

  private async lock(directory: string, path: string, workerId: number): Promise<ExclusiveLock> {
    const lock = await lockDirectory(directory, `Worker ${workerId}`);
    if (lock !== undefined) return lock;
    const record = await readWorkerRecord(path, workerId).catch(() => undefined);
    const by =
      record === undefined
        ? 'another server'
        : `${formatInstance({ ip: record.ip, port: Number(record.port) })}, process ${record.pid},`;
    throw new LeafError(
      'LEAF_WORKER_HELD',
      `Worker ${workerId} in ${directory} is held by ${by} and can have one holder only. Stop that server, or give this one a worker ID of its own in LEAF_LOCAL_WORKERS.`,
    );
  }

  private holdingOf(claim: WorkerClaim): Holding {
    const holding = this.holdings.get(claim.version as string);
    if (holding !== undefined) return holding;
    throw new LeafError(
      'LEAF_LEASE_LOST',
      `Worker ${claim.workerId} of ${this.description} was given back. Restart this server.`,
    );
  }

  private async rewrite(claim: WorkerClaim, ceiling: number): Promise<void> {
    const holding = this.holdingOf(claim);
    if (!(await holding.lock.isInPlace())) {
      throw new LeafError(
        'LEAF_LEASE_LOST',
        `The lock of worker ${claim.workerId} is no longer where it was made, in ${this.directory}: the directory was removed or replaced. Keep the data directory while the server runs; restart this server.`,
      );
    }
    await this.write({ ...holding, record: { ...holding.record, timestamp: ceiling } });
  }

  private async write(holding: Holding): Promise<void> {
    await writeWorkerRecord(holding.path, holding.record);
    this.holdings.set(holding.record.leaseId, holding);
  }
}
