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
  /** Whether the caller was served or refused. */
  settled: boolean;
}

export interface CallerQueueOptions {
  /** Longest wait of a caller, in milliseconds. */
  readonly waitMs: number;
  /** Maximum number of IDs of a batch. A single caller that wants more gets a batch of its own. */
  readonly batchSize: number;
  /** Creates the error for a caller that exceeds its wait limit. */
  readonly late: () => LeafError;
}

/**
 * The FIFO queue of the callers of one strict tag. A batch contains callers that are waiting when it is formed. A
 * caller that exceeds its wait limit is refused; its share of the batch becomes a gap.
 */
export class CallerQueue {
  private waiting: Caller[] = [];
  /** The callers of the statement in flight. No other caller may get its numbers. */
  private batch: readonly Caller[] = [];
  /** Ends the timer that runs until the first caller expires. */
  private cancelAlarm: (() => void) | undefined;
  /** Whether each batch contains only one caller; see {@link divide}. */
  private divided = false;

  constructor(
    private readonly clock: Clock,
    private readonly options: CallerQueueOptions,
  ) {}

  /** Whether any caller is waiting outside a batch. */
  get occupied(): boolean {
    return this.waiting.length > 0;
  }

  /** Number of callers, waiting or in the current batch. */
  get length(): number {
    return this.waiting.length + this.batch.length;
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
      this.waiting.push({ count, deadline, serve, refuse, settled: false });
      if (this.cancelAlarm === undefined) this.watch();
    });
  }

  /**
   * Forms a batch of waiting callers. Call it only while there is no current batch.
   *
   * @returns total number of IDs of the batch
   */
  next(): number {
    const { batchSize } = this.options;
    let size = 0;
    let taken = 0;
    for (const { count } of this.waiting) {
      if (taken > 0 && (this.divided || size + count > batchSize)) break;
      size += count;
      taken++;
    }
    this.batch = this.waiting.splice(0, taken);
    this.divided &&= this.waiting.length > 0;
    return size;
  }

  /**
   * Completes the batch with its numbers.
   *
   * @param range of the size of the batch
   * @returns number of IDs issued
   */
  serve(range: IdRange): number {
    const rest = new Segment(range);
    let served = 0;
    for (const caller of this.end()) {
      const share = rest.takeRange(caller.count);
      if (caller.settled) continue;
      caller.settled = true;
      served += caller.count;
      caller.serve(share);
    }
    return served;
  }

  /** Fails the batch: refuses all its callers. */
  refuse(error: Error): void {
    for (const caller of this.end()) settle(caller, error);
  }

  /** Cancels the batch: its callers return to the head of the queue. */
  putBack(): void {
    const callers = this.batch.filter(({ settled }) => !settled);
    this.batch = [];
    this.waiting = [...callers, ...this.waiting];
  }

  /**
   * Cancels the batch and forms a separate batch for each of its callers: if one requests more IDs than the tag has
   * left, the others may still succeed.
   *
   * @returns false, and keeps the batch, if it has only one caller
   */
  divide(): boolean {
    if (this.batch.length <= 1) return false;
    this.divided = true;
    this.putBack();
    return true;
  }

  /** Refuses all callers. Do not call {@link wait} afterwards. The current batch must still be completed or failed. */
  close(reason: () => LeafError): void {
    const callers = [...this.batch, ...this.waiting];
    this.waiting = [];
    for (const caller of callers) settle(caller, reason());
    this.endAlarm();
  }

  private end(): readonly Caller[] {
    const { batch } = this;
    this.batch = [];
    if (!this.occupied) this.endAlarm();
    return batch;
  }

  /** The wait limit is the same for all callers, so the first caller in the queue expires first. */
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
    return this.batch.find(({ settled }) => !settled) ?? this.waiting[0];
  }

  private readonly expire = (): void => {
    const now = this.clock.monotonic();
    for (const caller of this.batch) if (caller.deadline <= now) settle(caller, this.options.late());
    const inTime = this.waiting.findIndex(({ deadline }) => deadline > now);
    const late = this.waiting.splice(0, inTime < 0 ? this.waiting.length : inTime);
    for (const caller of late) settle(caller, this.options.late());
    this.watch();
  };
}

function settle(caller: Caller, error: Error): void {
  if (caller.settled) return;
  caller.settled = true;
  caller.refuse(error);
}
