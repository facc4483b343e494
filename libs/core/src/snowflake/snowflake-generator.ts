import type { Clock } from '../clock/clock';
import { withinDeadline } from '../util/deadline';
import { DecimalWriter } from '../util/decimal-writer';
import type { LeafError } from '../errors/leaf-error';
import type { RandomSource } from '../util/random';
import { type IdRange, idsOf, sizeOf } from '../segment/tags/id-range';
import type { BitLayout } from './bit-layout';
import {
  type IssueWindow,
  type Term,
  ABSORBING,
  BEHIND,
  CEILING,
  EPOCH,
  EXHAUSTED,
  FLOOR,
  type Obstacle,
  obstacleOf,
  NO_TERM,
  refusalOf,
} from './issue-window';
import type { SnowflakeOptions, SnowflakeSnapshot } from './snowflake-options';

/**
 * Under saturation the generator may lag behind the clock by this many milliseconds: it first uses, in order, the
 * milliseconds that it missed while the process was busy. After a longer idle time it does not lag.
 */
const CATCH_UP_MS = 8;
/**
 * A blocking call reads the clock this often, and gives up after {@link MAX_BLOCK_MS}: a millisecond of a slewed wall
 * clock can take slightly longer than one of the monotonic clock.
 */
const PAUSE_MS = 0.1;
const MAX_BLOCK_MS = 1.05;
/** Marks a missing timestamp. */
const NONE = -1;
const noop = (): void => undefined;

/**
 * Issues each (timestamp, worker ID, sequence) at most once, in ascending order, within its {@link IssueWindow}. The
 * algorithm is Twitter's Snowflake (2010) with the clock rules of Meituan's Leaf and a fenced window.
 *
 * The state is the newest timestamp and its last sequence number. `tryNext…` never waits. `next…` blocks the thread for
 * at most one millisecond if the sequence is used up. `take…` waits without blocking.
 */
export class SnowflakeGenerator {
  private timestamp = NONE;
  /** The term of the current timestamp. */
  private term: Term | undefined;
  private sequence: number;
  private started: number;
  /** Wall-clock time at which the current timestamp was last found usable. */
  private tick = NONE;
  /** Whether the current timestamp follows an exhausted one: its sequence may then be used in full. */
  private saturated = false;
  private base = 0n;
  private writerBase = -1n;
  private writer: DecimalWriter | undefined;
  private hold: Obstacle = 'floor';
  private issuedBefore = 0;
  private backwardsSteps = 0;
  private steppedBack = false;
  /** Calls that wait for a single ID. */
  private singles = 0;
  /** Resolves when the newest call for several IDs has ended; undefined when none is in progress. */
  private newestCall: Promise<void> | undefined;
  private readonly maxSequence: number;
  /** A sequence starts below this. */
  private readonly startBelow: number;

  constructor(
    readonly layout: BitLayout,
    private readonly window: IssueWindow,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly options: SnowflakeOptions,
  ) {
    this.maxSequence = layout.maxSequence;
    this.startBelow = Math.min(Math.max(1, options.sequenceStart), this.maxSequence + 1);
    this.sequence = this.maxSequence;
    this.started = this.sequence + 1;
  }

  /** The next ID, or undefined if {@link next} would block or throw. */
  tryNext(): bigint | undefined {
    if (!this.claim()) return undefined;
    return this.base + BigInt(this.sequence);
  }

  /** The next ID in decimal, or undefined if {@link next} would block or throw. */
  tryNextString(): string | undefined {
    if (!this.claim()) return undefined;
    return this.write(this.sequence);
  }

  /**
   * The next `count` IDs, all of one millisecond. Undefined if the millisecond has fewer left, other calls for several
   * IDs wait, or the call would wait or throw.
   */
  tryRange(count: number): IdRange | undefined {
    if (count > 1 && this.newestCall !== undefined) return undefined;
    return this.claim() && this.leaves(count) ? this.claimRange(count) : undefined;
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
   *   `LEAF_EPOCH_EXHAUSTED`, or `LEAF_OVERLOADED` when the IDs are not available within the wait limit
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

  /**
   * As {@link take}, as ascending ranges. The IDs of one millisecond are consecutive. Calls for several IDs are served
   * one after the other, and leave half of each millisecond to calls that wait for a single ID.
   */
  takeRanges(count: number): Promise<IdRange[]> {
    const deadline = this.clock.monotonic() + this.options.waitMs;
    if (count === 1) return this.takeOne(deadline);
    const gather = (): Promise<IdRange[]> => this.gather(count, deadline);
    const ranges = this.newestCall === undefined ? gather() : this.newestCall.then(gather);
    const settled: Promise<void> = ranges.then(noop, noop).then(() => {
      if (this.newestCall === settled) this.newestCall = undefined;
    });
    this.newestCall = settled;
    return ranges;
  }

  private async takeOne(deadline: number): Promise<IdRange[]> {
    this.singles++;
    try {
      while (!this.claim()) await this.untilClaimable(deadline);
    } finally {
      this.singles--;
    }
    return [this.claimRange(1)];
  }

  private async gather(count: number, deadline: number): Promise<IdRange[]> {
    const ranges: IdRange[] = [];
    let missing = count;
    while (missing > 0) {
      if (!this.claim() || !this.leaves(1)) {
        await this.untilClaimable(deadline);
        continue;
      }
      const run = Math.min(missing, this.spare);
      ranges.push(this.claimRange(run));
      missing -= run;
    }
    return ranges;
  }

  /** Why no ID can be issued now; undefined if one can be issued now or within milliseconds. Has no side effects. */
  refusal(): LeafError | undefined {
    const now = this.clock.now();
    const decision = this.decide(now);
    if (decision >= 0 || decision === EXHAUSTED || decision === ABSORBING) return undefined;
    return this.refused(obstacleOf(decision), now);
  }

  /** Unix milliseconds of the newest ID, -1 before the first. */
  get lastTimestamp(): number {
    return this.timestamp;
  }

  snapshot(): SnowflakeSnapshot {
    return {
      workerId: this.window.term?.workerId,
      issued: this.issuedBefore + this.sequence - this.started + 1,
      lastTimestamp: this.timestamp,
      behindMs: Math.max(0, this.timestamp - this.clock.now()),
      backwardsSteps: this.backwardsSteps,
    };
  }

  /** Advances to the next (timestamp, sequence). If there is none, sets `hold` to the reason and returns false. */
  private claim(): boolean {
    const now = this.clock.now();
    if (now !== this.tick || this.sequence >= this.maxSequence || this.window.term !== this.term) {
      this.countStep(this.timestamp - now);
      // Renew even while waiting for the floor, so that reserved time is left when the clock passes it.
      if (now > this.window.renewAfter && this.window.term !== undefined) void this.window.renew();
      const decision = this.decide(now);
      if (decision < 0) {
        this.hold = obstacleOf(decision);
        this.tick = NONE;
        return false;
      }
      this.tick = now;
      if (decision !== this.timestamp) {
        this.open(decision);
        return true;
      }
    }
    this.sequence++;
    return true;
  }

  /**
   * The timestamp of the next ID, or a negative number if there is none: see {@link obstacleOf}. Has no side effects.
   */
  private decide(now: number): number {
    const { term } = this.window;
    if (term === undefined) return NO_TERM;
    const offset = this.timestamp - now;
    if (offset > this.options.maxBackwardsMs) return BEHIND;
    // A timestamp of another term has another worker ID.
    if (term !== this.term) return this.admitted(now, term);
    const spare = this.sequence < this.maxSequence;
    if (offset === 0) return spare ? this.timestamp : EXHAUSTED;
    if (offset > 0) return spare ? this.timestamp : ABSORBING;
    const near = -offset <= CATCH_UP_MS;
    if (spare && near && this.saturated) return this.timestamp;
    return this.admitted(!spare && near ? this.timestamp + 1 : now, term);
  }

  /** `timestamp`, if the layout and the window allow it. */
  private admitted(timestamp: number, { floor }: Term): number {
    if (timestamp > this.layout.maxTimestamp || timestamp < this.layout.epoch) return EPOCH;
    if (timestamp <= floor) return FLOOR;
    if (timestamp > this.window.ceiling) return CEILING;
    return timestamp;
  }

  private open(timestamp: number): void {
    this.issuedBefore += this.sequence - this.started + 1;
    this.saturated = this.sequence === this.maxSequence && timestamp === this.timestamp + 1;
    this.timestamp = timestamp;
    this.term = this.window.term;
    const workerId = this.term?.workerId ?? NONE;
    this.started = this.saturated ? 0 : this.random(this.startBelow);
    this.sequence = this.started;
    this.base = this.layout.compose({ timestamp, workerId, sequence: 0 });
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
      // Read the clock before the claim: the process may be suspended in between.
      left = until - this.clock.monotonic();
      if (this.claim()) return;
    }
    throw this.refused(this.hold, this.clock.now());
  }

  /** The IDs of this millisecond that are left for calls for several, the claimed one included. */
  private get spare(): number {
    return this.maxSequence - this.sequence + 1 - Math.min(this.singles, (this.maxSequence + 1) >> 1);
  }

  /** Whether `count` IDs are spare. If not, the claimed ID is free again: it was not returned. */
  private leaves(count: number): boolean {
    if (this.spare >= count) return true;
    this.sequence--;
    this.hold = 'exhausted';
    return false;
  }

  /** The `count` IDs that start with the claimed one. */
  private claimRange(count: number): IdRange {
    const from = this.base + BigInt(this.sequence);
    this.sequence += count - 1;
    return { from, to: this.base + BigInt(this.sequence) };
  }

  /** Waits until a claim may succeed. Throws if waiting does not help, or past the deadline. */
  private async untilClaimable(deadline: number): Promise<void> {
    const { hold } = this;
    const refused = (): LeafError => this.refused(hold, this.clock.now());
    if (this.clock.monotonic() >= deadline) throw refused();
    if (hold === 'exhausted') return this.clock.sleep(1);
    if (hold === 'ceiling') {
      const before = this.window.ceiling;
      await withinDeadline(this.window.renew(), deadline, this.clock);
      if (this.window.ceiling > before) return;
    }
    if (hold === 'absorbing') {
      await this.clock.sleep(2 * (this.timestamp - this.clock.now()));
      if (this.clock.now() >= this.timestamp) return;
    }
    throw refused();
  }

  private refused(hold: Obstacle, now: number): LeafError {
    return refusalOf(hold, { window: this.window, layout: this.layout, timestamp: this.timestamp, now });
  }
}
