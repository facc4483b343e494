import type { LeafError } from '../errors/leaf-error';
import type { Instance } from './instance';
import type { WorkerRecord } from './worker-store';

/** Limits the memory of a server whose writes fail for days; the oldest write counts as never sent. */
const MOST_REPLACED = 100;

/**
 * Identifies one run of a server in its records: an `ip:port`, a lease ID, and a number for each write. With these, the
 * server recognizes its own writes, even if their replies were lost.
 */
export class LeaseHolder {
  /** Number of the latest write that was sent. */
  attempted = 0;
  /** The worker ID that was held last. */
  previous: number | undefined;
  /**
   * Whether the registry has reported that the worker ID of the file may belong to another server. Reset by an
   * acquisition.
   */
  disproved = false;
  /** Random, new for every start. */
  leaseId: string;
  /** Whether other servers write records under this lease ID, too. */
  readonly shared: boolean = false;
  /** The ceiling that each acquisition replaced, by write number. */
  private readonly replaced = new Map<number, number>();

  /**
   * @param leaseId random, new for every start
   * @param newest Unix milliseconds of the newest ID issued, -1 before the first
   * @param server the server that makes the requests
   */
  constructor(
    readonly instance: Instance,
    leaseId: string,
    readonly newest: () => number,
    readonly server = instance,
  ) {
    this.leaseId = leaseId;
  }

  /** The record of the next write. */
  record(ceiling: number, free = false): WorkerRecord {
    const { instance, leaseId } = this;
    return { instance, leaseId, write: ++this.attempted, ceiling, free };
  }

  /**
   * The record of an acquisition that replaces the ceiling `recorded`.
   *
   * @param _floor Unix milliseconds: all IDs will have later timestamps
   */
  acquisition(ceiling: number, recorded: number, _floor: number): WorkerRecord {
    const record = this.record(ceiling);
    this.replaced.set(record.write, recorded);
    const [oldest = 0] = this.replaced.keys();
    if (this.replaced.size > MOST_REPLACED) this.replaced.delete(oldest);
    return record;
  }

  /**
   * The ceiling that the acquisition with the number `write` replaced; undefined if that write was not an acquisition.
   */
  replacedBy(write: number): number | undefined {
    return this.replaced.get(write);
  }
}

/**
 * Waits `ms` milliseconds.
 *
 * @param reason the error for calls during the wait
 * @throws LeafError `LEAF_NOT_READY` when the server stops
 */
export type Wait = (ms: number, reason: LeafError) => Promise<void>;
