import type { LeafError } from '../errors/leaf-error';
import type { Instance } from './instance';
import type { WorkerRecord } from './worker-store';

/** What a server in vain tries to write for days is not kept for ever; the oldest counts as never sent. */
const MOST_REPLACED = 100;

/**
 * One run of a server, as its records name it: an `ip:port`, a lease ID, and a number for each write. By these it
 * recognizes its own writes, even those whose answers were lost.
 */
export class LeaseHolder {
  /** Number of the newest write that was sent. */
  attempted = 0;
  /** The worker ID held last. */
  previous: number | undefined;
  /** The registry has answered that the worker ID of the file may belong to another server; reset by an acquisition. */
  disproved = false;
  /** The ceiling that each acquisition replaces, by the number of its write. */
  private readonly replaced = new Map<number, number>();

  /**
   * @param leaseId random, new for every start
   * @param newest Unix milliseconds of the newest ID issued, -1 before the first
   */
  constructor(
    readonly instance: Instance,
    readonly leaseId: string,
    readonly newest: () => number,
  ) {}

  /** The record of the next write. */
  record(ceiling: number, free = false): WorkerRecord {
    const { instance, leaseId } = this;
    return { instance, leaseId, write: ++this.attempted, ceiling, free };
  }

  /** The record of an acquisition that replaces `recorded`. */
  acquisition(ceiling: number, recorded: number): WorkerRecord {
    const record = this.record(ceiling);
    this.replaced.set(record.write, recorded);
    const [oldest = 0] = this.replaced.keys();
    if (this.replaced.size > MOST_REPLACED) this.replaced.delete(oldest);
    return record;
  }

  /** The ceiling that the acquisition numbered `write` has replaced; undefined when that write was no acquisition. */
  replacedBy(write: number): number | undefined {
    return this.replaced.get(write);
  }
}

/**
 * Waits `ms` milliseconds.
 *
 * @param reason the error that callers get meanwhile
 * @throws LeafError `LEAF_NOT_READY` when the server stops
 */
export type Wait = (ms: number, reason: LeafError) => Promise<void>;
