import type { Clock } from '../../clock/clock';
import { afterLoopTime } from '../../util/deadline';
import type { LeafError } from '../../errors/leaf-error';
import type { IdRange } from '../tags/id-range';
import { Segment } from '../allocation/segment';

interface Caller {
  readonly count: number;
  readonly deadline: number;
  readonly serve: (range: IdRange) => void;
  readonly refuse: (error: Error) => void;
  /** A caller that is served leaves with its batch. */
  refused: boolean;
  /** Whether it gets a batch of its own; see {@link CallerQueue.divide}. */
  alone: boolean;
}

export interface CallerQueueOptions {
  /** Longest wait of a caller, in milliseconds. */
  readonly waitMs: number;
  /** Maximum number of IDs of a batch. A single caller that wants more gets a batch of its own. */
  readonly batchSize: number;
  /** Creates the error for a caller that exceeds its wait limit. */
  readonly late: () => LeafError;
}

/** The callers of one statement. No other caller may get its numbers. */
export interface Batch {
  readonly callers: readonly Caller[];
  /** Total number of their IDs. */
  readonly size: number;
}

/**
 * The FIFO queue of the callers of one strict tag. A batch contains callers that are waiting when it is formed; there may
 * be several. A caller that exceeds its wait limit is refused; its share of the batch becomes a gap.
 */
export class CallerQueue {
  private waiting: Caller[] = [];
  /** Those that are not completed, the oldest first. */
  private readonly batches = new Set<Batch>();
  /** Ends the timer that runs until the first caller expires. */
  private cancelAlarm: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly options: CallerQueueOptions,
  ) {}

  /** Whether any caller is waiting outside a batch. */
  get occupied(): boolean {
    return this.waiting.length > 0;
  }

  /** Number of callers, waiting or in a batch. */
  get length(): number {
    let length = this.waiting.length;
    for (const { callers } of this.batches) length += callers.length;
    return length;
  }

  /**
   * Waits for `count` IDs.
   *
   * @param since start of the call, in monotonic milliseconds; never before the start of an earlier waiting call
   * @throws LeafError the error that the batch was refused with, or `options.late()`
   */
  wait(count: number, since = this.clock.monotonic()): Promise<IdRange> {
    const deadline = since + this.options.waitMs;
    return new Promise((serve, refuse) => {
      this.waiting.push({ count, deadline, serve, refuse, refused: false, alone: false });
      if (this.cancelAlarm === undefined) this.watch();
    });
  }

  /** Forms a batch of waiting callers. */
  next(): Batch {
    const { batchSize } = this.options;
    let size = 0;
    let taken = 0;
    const isAlone = this.waiting[0]?.alone;
    for (const { count, alone } of this.waiting) {
      if (taken > 0 && (isAlone || alone || size + count > batchSize)) break;
      size += count;
      taken++;
    }
    const batch = { callers: this.waiting.splice(0, taken), size };
    this.batches.add(batch);
    return batch;
  }

  /**
   * Completes a batch with its numbers.
   *
   * @param range of the size of the batch
   * @returns number of IDs issued
   */
  serve(batch: Batch, range: IdRange): number {
    const rest = new Segment(range);
    let served = 0;
    this.end(batch);
    for (const caller of batch.callers) {
      const share = rest.takeRange(caller.count);
      if (caller.refused) continue;
      served += caller.count;
      caller.serve(share);
    }
    return served;
  }

  /** Fails a batch: refuses all its callers. */
  refuse(batch: Batch, error: Error): void {
    this.end(batch);
    for (const caller of batch.callers) refuse(caller, error);
  }

  /** Cancels a batch: its callers return to the queue, in the order in which they came. */
  putBack(batch: Batch): void {
    this.batches.delete(batch);
    const callers = batch.callers.filter(({ refused }) => !refused);
    this.waiting = [...callers, ...this.waiting].sort((one, other) => one.deadline - other.deadline);
  }

  /**
   * Cancels a batch and forms a separate batch for each of its callers: if one requests more IDs than the tag has left,
   * the others may still succeed.
   *
   * @returns false, and keeps the batch, if it has only one caller
   */
  divide(batch: Batch): boolean {
    if (batch.callers.length <= 1) return false;
    for (const caller of batch.callers) caller.alone = true;
    this.putBack(batch);
    return true;
  }

  /** Refuses all callers. Do not call {@link wait} afterwards. The batches must still be completed or failed. */
  close(reason: () => LeafError): void {
    const callers = [...this.inBatches(), ...this.waiting];
    this.waiting = [];
    for (const caller of callers) refuse(caller, reason());
    this.endAlarm();
  }

  private end(batch: Batch): void {
    this.batches.delete(batch);
    if (!this.occupied && this.batches.size === 0) this.endAlarm();
  }

  private inBatches(): Caller[] {
    return [...this.batches].flatMap(({ callers }) => callers);
  }

  /** The wait limit is the same for all callers, so the first caller in the oldest batch or the queue expires first. */
  private watch(): void {
    const first = this.first();
    const now = this.clock.monotonic();
    this.cancelAlarm = first && afterLoopTime(this.clock, first.deadline - now, this.expire);
  }

  private endAlarm(): void {
    this.cancelAlarm?.();
    this.cancelAlarm = undefined;
  }

  private first(): Caller | undefined {
    let first = this.waiting[0];
    for (const { callers } of this.batches) {
      const own = callers.find(({ refused }) => !refused);
      if (own !== undefined && (first === undefined || own.deadline < first.deadline)) first = own;
    }
    return first;
  }

  private readonly expire = (): void => {
    const now = this.clock.monotonic();
    for (const caller of this.inBatches()) if (caller.deadline <= now) refuse(caller, this.options.late());
    const inTime = this.waiting.findIndex(({ deadline }) => deadline > now);
    const late = this.waiting.splice(0, inTime < 0 ? this.waiting.length : inTime);
    for (const caller of late) refuse(caller, this.options.late());
    this.watch();
  };
}

function refuse(caller: Caller, error: Error): void {
  caller.refused = true;
  caller.refuse(error);
}
