import type { Clock } from '../clock/clock';
import { settledBefore } from '../deadline';
import { DecimalWriter } from '../decimal-writer';
import type { LeafError } from '../errors/leaf-error';
import type { RandomSource } from '../random';
import { type IdRange, idsOf, sizeOf } from '../segment/id-range';
import type { BitLayout } from './bit-layout';
import type { IssueWindow } from './issue-window';
import { refusalOf, type Hold } from './refusal';

export interface SnowflakeOptions {
  /** Clock step backwards that is absorbed, in milliseconds. */
  readonly maxBackwardsMs: number;
  /** How long an asynchronous call may wait for its IDs, in milliseconds. */
  readonly waitMs: number;
}

export const DEFAULT_SNOWFLAKE_OPTIONS: SnowflakeOptions = { maxBackwardsMs: 5, waitMs: 1000 };

export interface SnowflakeSnapshot {
  readonly workerId: number;
  readonly issued: number;
  /** Unix milliseconds of the newest ID, -1 before the first. */
  readonly lastTimestamp: number;
  /** How far the clock is behind the newest ID, in milliseconds; 0 when it is not. */
  readonly behindMs: number;
  /** Steps backwards seen, absorbed ones included. */
  readonly backwardsSteps: number;
}

/**
 * A new millisecond starts its sequence below this, so that IDs of a slow caller do not all end in 0. One that follows
 * on a millisecond that is used up starts at 0.
 */
const RANDOM_START = 100;
/**
 * Under saturation the generator may trail the clock by this many milliseconds: those it could not use because the
 * process was busy elsewhere are used up first, in order. A generator that was idle for longer never trails.
 */
const CATCH_UP_MS = 8;
/**
 * A call that blocks looks at the clock this often, and gives up when a millisecond of the wall clock must have passed:
 * while it is slewed, that takes a little more than one of the monotonic clock.
 */
const PAUSE_MS = 0.1;
const MAX_BLOCK_MS = 1.05;
/** In place of a timestamp: none. */
const NONE = -1;

/**
 * Issues (timestamp, worker ID, sequence) in ascending order, each once, inside its {@link IssueWindow}; the algorithm
 * is Twitter's Snowflake (2010) with the clock rules of Meituan's Leaf and a fenced window.
 *
 * The state is the newest timestamp and the sequence used in it. `tryNext…` never waits; `next…` blocks the thread for
 * at most one millisecond when the sequence is used up; `take…` waits without blocking.
 */
export class SnowflakeGenerator {
  private timestamp = NONE;
  private sequence: number;
  private started: number;
  /** Wall clock at which the current timestamp was last found usable. */
  private tick = NONE;
  /** The current timestamp was opened because the one before was used up: its sequence is used up too, if wanted. */
  private saturated = false;
  private base = 0n;
  private writerBase = -1n;
  private writer: DecimalWriter | undefined;
  private hold: Hold = 'floor';
  private issuedBefore = 0;
  private backwardsSteps = 0;
  private steppedBack = false;
  private readonly maxSequence: number;

  constructor(
    readonly layout: BitLayout,
    private readonly window: IssueWindow,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly options: SnowflakeOptions,
  ) {
    this.maxSequence = layout.maxSequence;
    this.sequence = this.maxSequence;
    this.started = this.sequence + 1;
  }

  /** The next ID, or undefined when it would have to wait or be refused. */
  tryNext(): bigint | undefined {
    if (!this.claim()) return undefined;
    return this.base + BigInt(this.sequence);
  }

  /** The next ID in decimal, or undefined when it would have to wait or be refused. */
  tryNextString(): string | undefined {
    if (!this.claim()) return undefined;
    return this.write(this.sequence);
  }

  /**
   * The next `count` IDs, all of one millisecond; undefined when they would have to wait or be refused, or are more than
   * are left of it.
   */
  tryRange(count: number): IdRange | undefined {
    if (!this.claim()) return undefined;
    if (this.maxSequence - this.sequence + 1 < count) {
      // Nobody has seen it: the next claim may have it.
      this.sequence--;
      return undefined;
    }
    return this.claimRange(count);
  }

  /** @throws LeafError as {@link take}, and `LEAF_OVERLOADED` when the IDs of this millisecond are used up */
  next(): bigint {
    this.claimBlocking();
    return this.base + BigInt(this.sequence);
  }

  /** @throws LeafError as {@link next} */
  nextString(): string {
    this.claimBlocking();
    return this.write(this.sequence);
  }

  /**
   * `count` ascending IDs.
   *
   * @throws LeafError `LEAF_NOT_READY`, `LEAF_CLOCK_BACKWARDS`, `LEAF_LEASE_EXPIRED`, `LEAF_LEASE_LOST`,
   *   `LEAF_EPOCH_EXHAUSTED`, or `LEAF_OVERLOADED` when they cannot be had within the wait limit
   */
  async take(count: number): Promise<bigint[]> {
    return idsOf(await this.takeRanges(count));
  }

  /** As {@link take}, in decimal. */
  async takeStrings(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (const range of await this.takeRanges(count)) {
      const writer = this.writerAt(range.from);
      const size = sizeOf(range);
      for (let offset = 0; offset < size; offset++) ids.push(writer.write(offset));
    }
    return ids;
  }

  /** As {@link take}, as ascending ranges: the IDs of one millisecond follow each other. */
  async takeRanges(count: number): Promise<IdRange[]> {
    const ranges: IdRange[] = [];
    const deadline = this.clock.monotonic() + this.options.waitMs;
    let missing = count;
    while (missing > 0) {
      if (!this.claim()) {
        await this.untilClaimable(deadline);
        continue;
      }
      const run = Math.min(missing, this.maxSequence - this.sequence + 1);
      ranges.push(this.claimRange(run));
      missing -= run;
    }
    return ranges;
  }

  /** Whether the next ID could be issued now; throws nothing and issues nothing. */
  refusal(): LeafError | undefined {
    const now = this.clock.now();
    if (this.due(now) !== NONE) return undefined;
    return this.hold === 'exhausted' || this.hold === 'absorbing' ? undefined : this.refused(now);
  }

  /** Unix milliseconds of the newest ID, -1 before the first. */
  get lastTimestamp(): number {
    return this.timestamp;
  }

  snapshot(): SnowflakeSnapshot {
    return {
      workerId: this.window.workerId,
      issued: this.issuedBefore + this.sequence - this.started + 1,
      lastTimestamp: this.timestamp,
      behindMs: Math.max(0, this.timestamp - this.clock.now()),
      backwardsSteps: this.backwardsSteps,
    };
  }

  /** Moves to the next (timestamp, sequence), or says in `hold` why there is none. */
  private claim(): boolean {
    const now = this.clock.now();
    if (now !== this.tick || this.sequence >= this.maxSequence || this.window.lost !== undefined) {
      const due = this.due(now);
      if (due === NONE) return false;
      this.tick = now;
      if (due !== this.timestamp) {
        this.open(due);
        return true;
      }
    }
    this.sequence++;
    return true;
  }

  /** The timestamp of the next ID; NONE when there is none, `hold` says why. */
  private due(now: number): number {
    if (this.window.lost !== undefined) return this.held('lost');
    const offset = this.timestamp - now;
    this.countStep(offset);
    if (offset > this.options.maxBackwardsMs) return this.held('behind');
    const spare = this.sequence < this.maxSequence;
    if (offset >= 0) return spare ? this.timestamp : this.held(offset === 0 ? 'exhausted' : 'absorbing');
    const near = -offset <= CATCH_UP_MS;
    if (spare && near && this.saturated) return this.timestamp;
    return this.admitted(!spare && near ? this.timestamp + 1 : now);
  }

  /** `timestamp`, if the layout and the window allow IDs with it; else NONE. */
  private admitted(timestamp: number): number {
    if (timestamp > this.layout.maxTimestamp || timestamp < this.layout.epoch) return this.held('epoch');
    // Before the floor is looked at: when the clock passes that, there shall be time to issue with.
    if (timestamp > this.window.renewAfter) void this.window.renew();
    if (timestamp <= this.window.floor) return this.held('floor');
    if (timestamp > this.window.ceiling) return this.held('ceiling');
    return timestamp;
  }

  private open(timestamp: number): void {
    this.issuedBefore += this.sequence - this.started + 1;
    this.saturated = this.sequence === this.maxSequence && timestamp === this.timestamp + 1;
    this.timestamp = timestamp;
    this.started = this.saturated ? 0 : this.random(Math.min(RANDOM_START, this.maxSequence + 1));
    this.sequence = this.started;
    this.base = this.layout.compose({ timestamp, workerId: this.window.workerId, sequence: 0 });
  }

  private held(hold: Hold): typeof NONE {
    this.hold = hold;
    this.tick = NONE;
    return NONE;
  }

  private countStep(offset: number): void {
    if (offset > 0 && !this.steppedBack) this.backwardsSteps++;
    this.steppedBack = offset > 0;
  }

  private write(sequence: number): string {
    return this.writerAt(this.base).write(sequence);
  }

  private writerAt(base: bigint): DecimalWriter {
    this.writer ??= new DecimalWriter();
    if (this.writerBase !== base) {
      this.writer.rebase(base);
      this.writerBase = base;
    }
    return this.writer;
  }

  private claimBlocking(): void {
    if (this.claim()) return;
    const until = this.clock.monotonic() + MAX_BLOCK_MS;
    for (let left = MAX_BLOCK_MS; this.hold === 'exhausted' && left > 0;) {
      this.clock.pause(Math.min(PAUSE_MS, left));
      // Read before the claim: the process may be suspended between the two.
      left = until - this.clock.monotonic();
      if (this.claim()) return;
    }
    throw this.refused(this.clock.now());
  }

  /** What was just claimed, and the IDs after it: `count` in all. */
  private claimRange(count: number): IdRange {
    const from = this.base + BigInt(this.sequence);
    this.sequence += count - 1;
    return { from, to: this.base + BigInt(this.sequence) };
  }

  /** Waits until another claim makes sense; throws when none does, or past the deadline. */
  private async untilClaimable(deadline: number): Promise<void> {
    const { hold } = this;
    const refused = (): LeafError => this.refused(this.clock.now());
    if (this.clock.monotonic() >= deadline) throw refused();
    if (hold === 'exhausted') return this.clock.sleep(1);
    if (hold === 'ceiling') {
      const before = this.window.ceiling;
      await settledBefore(this.window.renew(), deadline, this.clock);
      if (this.window.ceiling > before) return;
    }
    if (hold === 'absorbing') {
      await this.clock.sleep(2 * (this.timestamp - this.clock.now()));
      if (this.clock.now() >= this.timestamp) return;
    }
    throw refused();
  }

  private refused(now: number): LeafError {
    return refusalOf(this.hold, { window: this.window, layout: this.layout, timestamp: this.timestamp, now });
  }
}
