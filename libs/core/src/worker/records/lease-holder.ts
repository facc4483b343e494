import type { LeafError } from '../../errors/leaf-error';
import type { Instance } from './instance';
import type { WorkerRecord } from './worker-store';

/** Limits the memory of a server whose writes fail for hours: it keeps the first and the latest ones. */
const MAX_SENT = 1000;

/** A write whose outcome is not known yet. */
interface SentWrite {
  readonly ceiling: number;
  /** The ceiling that it replaces, if it is an acquisition. */
  readonly replaced: number | undefined;
}

/**
 * Identifies one run of a server in its records: an `ip:port`, a lease ID, and a number for each write. With these, the
 * server recognizes its own writes, even if their replies were lost.
 *
 * R13: a copy of this process, as a cloned virtual machine has it, writes under the same lease ID with the same numbers.
 * So a record is ours only if this process has sent its number with its ceiling, and the store has not refused that
 * write. Two copies that send the same number and ceiling are distinguished as well, because the store refuses one of
 * the writes; only if that reply is lost, both go on until the next report.
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
  /** Writes by their number. */
  private readonly sent = new Map<number, SentWrite>();

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
    return this.send({ ceiling, replaced: undefined }, free);
  }

  /**
   * The record of an acquisition that replaces the ceiling `recorded`.
   *
   * @param _floor Unix milliseconds: all IDs will have later timestamps
   */
  acquisition(ceiling: number, recorded: number, _floor: number): WorkerRecord {
    return this.send({ ceiling, replaced: recorded }, false);
  }

  /** The store has not executed this write, and will not. */
  refused({ write }: WorkerRecord): void {
    this.sent.delete(write);
  }

  /** The store has executed this write: it refuses the earlier ones, if they arrive now. */
  confirmed({ write }: WorkerRecord): void {
    for (const number of this.sent.keys()) if (number <= write) this.sent.delete(number);
  }

  /** The write that made this record, if this process has sent it and does not know its outcome. */
  sentAs({ leaseId, write, ceiling }: WorkerRecord): SentWrite | undefined {
    const sent = leaseId === this.leaseId ? this.sent.get(write) : undefined;
    // `zk_normal` rounds the ceiling up to an odd number.
    return sent !== undefined && (ceiling === sent.ceiling || ceiling === sent.ceiling + 1) ? sent : undefined;
  }

  private send(sent: SentWrite, free: boolean): WorkerRecord {
    const { instance, leaseId } = this;
    const write = ++this.attempted;
    this.sent.set(write, sent);
    if (this.sent.size > MAX_SENT) this.sent.delete(write - MAX_SENT / 2);
    return { instance, leaseId, write, ceiling: sent.ceiling, free };
  }
}

/**
 * Waits `ms` milliseconds.
 *
 * @param reason the error for calls during the wait
 * @throws LeafError `LEAF_NOT_READY` when the server stops
 */
export type Wait = (ms: number, reason: LeafError) => Promise<void>;
