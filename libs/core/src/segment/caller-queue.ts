import type { Clock } from '../clock/clock';
import type { LeafError } from '../errors/leaf-error';
import type { IdRange } from './id-range';
import { Segment } from './segment';

interface Caller {
  readonly count: number;
  readonly deadline: number;
  readonly serve: (range: IdRange) => void;
  readonly refuse: (error: Error) => void;
  /** Served or refused. */
  settled: boolean;
}

export interface CallerQueueOptions {
  /** How long a caller waits, in milliseconds. */
  readonly waitMs: number;
  /** IDs of one batch at most, unless its first caller wants more. */
  readonly batchSize: number;
  /** Told to a caller that waited too long. */
  readonly late: () => LeafError;
}

/**
 * The callers of one strict tag, first come, first served. A batch is made of those who wait at that moment; a caller
 * whose wait limit passes leaves, and its share of the batch becomes a gap.
 */
export class CallerQueue {
  private waiting: Caller[] = [];
  /** Those who were waiting when the statement under way was sent: nobody else may get its numbers. */
  private batch: readonly Caller[] = [];
  private alarm: AbortController | undefined;
  /** Each batch is of one caller. */
  private divided = false;

  constructor(
    private readonly clock: Clock,
    private readonly options: CallerQueueOptions,
  ) {}

  /** Whether a caller waits that no batch has been made for. */
  get occupied(): boolean {
    return this.waiting.length > 0;
  }

  /** Callers that it holds. */
  get length(): number {
    return this.waiting.length + this.batch.length;
  }

  /**
   * Waits for `count` IDs.
   *
   * @param since when the call began, in monotonic milliseconds; not before that of a call that waits already
   * @throws LeafError what the batch was refused with, or as the options say
   */
  wait(count: number, since = this.clock.monotonic()): Promise<IdRange> {
    const deadline = since + this.options.waitMs;
    return new Promise((serve, refuse) => {
      this.waiting.push({ count, deadline, serve, refuse, settled: false });
      if (this.alarm === undefined) void this.watch((this.alarm = new AbortController()));
    });
  }

  /**
   * Makes the batch of those who wait. Only while no other one is under way.
   *
   * @returns how many IDs they want in all
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
   * Ends the batch with its numbers.
   *
   * @param range of the size of the batch
   * @returns IDs that were handed out
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

  /** Ends the batch without numbers. */
  refuse(error: Error): void {
    for (const caller of this.end()) settle(caller, error);
  }

  /** Ends the batch without numbers: its callers wait for another one, ahead of those who came later. */
  putBack(): void {
    this.waiting = [...this.end().filter(({ settled }) => !settled), ...this.waiting];
  }

  /**
   * Puts the batch back and makes one for each of its callers: where one wants more than there is, others may not.
   *
   * @returns false, and leaves the batch, when it was of one caller only
   */
  divide(): boolean {
    if (this.batch.length <= 1) return false;
    this.divided = true;
    this.putBack();
    return true;
  }

  /** Refuses everybody, for good: nobody may wait from now on. A batch under way still has to be ended. */
  close(reason: () => LeafError): void {
    const callers = [...this.batch, ...this.waiting];
    this.waiting = [];
    for (const caller of callers) settle(caller, reason());
    this.alarm?.abort(null);
  }

  private end(): readonly Caller[] {
    const { batch } = this;
    this.batch = [];
    return batch;
  }

  /** All wait equally long: the first one in line is the first whose time is over. */
  private async watch({ signal }: AbortController): Promise<void> {
    for (let first = this.first(); first !== undefined; first = this.first()) {
      await this.clock.sleep(first.deadline - this.clock.monotonic(), signal);
      if (signal.aborted) return;
      this.expire(this.clock.monotonic());
    }
    this.alarm = undefined;
  }

  private first(): Caller | undefined {
    return this.batch.find(({ settled }) => !settled) ?? this.waiting[0];
  }

  private expire(now: number): void {
    for (const caller of this.batch) if (caller.deadline <= now) settle(caller, this.options.late());
    while (this.waiting[0] !== undefined && this.waiting[0].deadline <= now) {
      const caller = this.waiting.shift();
      if (caller !== undefined) settle(caller, this.options.late());
    }
  }
}

function settle(caller: Caller, error: Error): void {
  if (caller.settled) return;
  caller.settled = true;
  caller.refuse(error);
}
