import type { Clock } from '../../clock/clock';
import { isLeafError, LeafError, reasonOf } from '../../errors/leaf-error';
import { MAX_ID, sizeOf, type IdRange } from '../tags/id-range';
import { MAX_BLOCKS, TagExhaustedError, type Allocation, type SegmentStore } from '../tags/segment-store';
import { DEFAULT_STEP } from '../tags/tag-store';
import { nextStep, type StepPolicyOptions } from './segment-options';
import { Histogram } from '../../util/histogram';

/** Upper bounds in milliseconds. */
const TIME_BOUNDS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/** Counters of the allocations of all tags of a generator, including removed ones. They never decrease. */
export class LoadTotals {
  loads = 0;
  failures = 0;
  retries = 0;
  backwards = 0;
  /** Latency of allocations, in milliseconds. */
  readonly times = new Histogram(TIME_BOUNDS);
}

export interface RangeSourceContext {
  readonly store: SegmentStore;
  readonly clock: Clock;
  readonly options: StepPolicyOptions;
  /** Counters over all tags. */
  readonly totals: LoadTotals;
  /** Called at the first failed allocation of a tag, and at every 100th consecutive one. */
  readonly onLoadFailed: (tag: string, error: unknown) => void;
}

export interface RangeSourceSnapshot {
  /** Size of the newest load; 0 before the first. */
  readonly step: number;
  /** The last known step in the database; 0 before the first allocation. */
  readonly databaseStep: number;
  readonly loads: number;
  readonly failures: number;
  /** Allocations that retried a failed one. */
  readonly retries: number;
  /** How often the tag had lost its newest allocations, for example because the store returned IDs that were taken. */
  readonly backwards: number;
  readonly lastLoadMs: number | undefined;
  /** Unix milliseconds. */
  readonly lastLoadAt: number | undefined;
  /** Message of the latest failure; undefined after a success. */
  readonly lastError: string | undefined;
}

/** The failed allocations of one tag. */
class LoadFaults {
  failures = 0;
  retries = 0;
  backwards = 0;
  failuresInRow = 0;
  lastError: unknown;
}

const NO_FAULTS: Readonly<LoadFaults> = new LoadFaults();
const REPORT_EVERY = 100;
const MICROS_A_MS = 1000;
/** Number of loads that use the step of the row before the dynamic step applies. */
const STATIC_LOADS = 2;

/**
 * Allocates the ranges of one tag from the store, and applies the dynamic step. Accepts a range only if it is above all
 * earlier ones; of allocations that overlap, {@link OverlappingRanges} decides.
 */
export class RangeSource {
  // There may be 100,000 tags. V8 stores integers below 2^31 and all fields that the constructor sets in the object
  // itself.
  private step = 0;
  private databaseStep = 0;
  private databaseMaxStep: number | undefined = undefined;
  /** IDs per block; undefined unless the tag is interleaved. */
  private block: number | undefined = undefined;
  private loads = 0;
  /** Monotonic, in whole milliseconds. */
  private loadStartedAt = 0;
  private lastLoadMicros: number | undefined = undefined;
  private lastLoadAt: number | undefined = undefined;
  /** Undefined until the first failure, because most tags never have one. */
  private faults: LoadFaults | undefined = undefined;

  constructor(
    readonly tag: string,
    private readonly context: RangeSourceContext,
    /** The highest ID of the tag known to be taken. */
    public highest = 0n,
  ) {}

  /**
   * Allocates the next segment, or the next blocks of an interleaved tag. The step policy determines the size.
   *
   * @param wanted number of IDs that calls wait for: the load is larger than the step if they need more
   */
  async load(wanted = 0): Promise<IdRange[]> {
    const { clock } = this.context;
    const startedAt = clock.monotonic();
    const planned = this.block === undefined ? this.plannedStep(startedAt) : undefined;
    // Before the first load, the step of the row is not known.
    const step = planned ?? this.block ?? (this.databaseStep || DEFAULT_STEP);
    const ranges = await this.counted(startedAt, this.allocateOrLess(wanted > step ? wanted : planned));
    // A burst of calls does not raise the dynamic step.
    this.step = Math.min(this.step, planned ?? this.block ?? this.databaseStep);
    return ranges;
  }

  /**
   * Counts an allocation as a load.
   *
   * @param startedAt start of the allocation, in monotonic milliseconds
   */
  async counted(startedAt: number, allocation: Promise<IdRange[]>): Promise<IdRange[]> {
    const { clock } = this.context;
    const ranges = await allocation;
    this.loadStartedAt = Math.round(startedAt);
    this.lastLoadMicros = Math.round((clock.monotonic() - startedAt) * MICROS_A_MS);
    this.lastLoadAt = clock.now();
    this.step = ranges.reduce((sum, range) => sum + sizeOf(range), 0);
    this.loads++;
    this.context.totals.loads++;
    return ranges;
  }

  /**
   * Allocates the next `size` IDs, or one step of the row if `size` is undefined. An interleaved tag gives several
   * ranges.
   *
   * @throws LeafError the errors of the store; `LEAF_TAG_ROW_INVALID`; `LEAF_STORE_BACKWARDS` when the range is not
   *   above all earlier ones, after moving the row forward
   */
  allocate(size: number | undefined): Promise<IdRange[]> {
    return this.accept(this.context.clock.monotonic(), this.context.store.allocate(this.tag, size));
  }

  /**
   * Checks the result of an allocation that was sent at `startedAt`, in monotonic milliseconds.
   *
   * @param isNew whether the IDs are new; without it, no other allocation overlaps this one
   * @throws LeafError as {@link allocate}
   */
  async accept(
    startedAt: number,
    answer: Promise<Allocation>,
    isNew = ({ from }: IdRange): boolean => from > this.highest,
  ): Promise<IdRange[]> {
    const { clock, totals } = this.context;
    if (this.faults !== undefined && this.faults.failuresInRow > 0) {
      this.faults.retries++;
      totals.retries++;
    }
    try {
      const { from, to, step, maxStep, more, wentBack } = await answer;
      totals.times.record(clock.monotonic() - startedAt);
      const last = more?.at(-1)?.to ?? to;
      await this.assertUsable({ from, to: last, step }, isNew);
      if (wentBack === true) this.countBackwards();
      if (last > this.highest) this.highest = last;
      this.databaseStep = step;
      this.databaseMaxStep = maxStep;
      this.block = more && sizeOf({ from, to });
      if (this.faults !== undefined) {
        this.faults.lastError = undefined;
        this.faults.failuresInRow = 0;
      }
      return more === undefined ? [{ from, to }] : [{ from, to }, ...more];
    } catch (error) {
      const faults = (this.faults ??= new LoadFaults());
      faults.lastError = error;
      faults.failures++;
      totals.failures++;
      if (faults.failuresInRow++ % REPORT_EVERY === 0) this.context.onLoadFailed(this.tag, error);
      throw error;
    }
  }

  /** Whether `count` IDs are more blocks of an interleaved tag than a call may take. False before the first block. */
  exceedsBlocks(count: number): boolean {
    return count / (this.block ?? Infinity) > MAX_BLOCKS;
  }

  /** Size of the newest load; 0 before the first. */
  get size(): number {
    return this.step;
  }

  /** The latest failure; undefined after a success. */
  get failure(): unknown {
    return this.faults?.lastError;
  }

  /** Increases with every load and every failure. */
  get tries(): number {
    return this.loads + (this.faults?.failures ?? 0);
  }

  snapshot(): RangeSourceSnapshot {
    const { step, databaseStep, loads, lastLoadMicros, lastLoadAt } = this;
    const { failures, retries, backwards, lastError } = this.faults ?? NO_FAULTS;
    const message = lastError === undefined ? undefined : reasonOf(lastError);
    const lastLoadMs = lastLoadMicros === undefined ? undefined : lastLoadMicros / MICROS_A_MS;
    return { step, databaseStep, loads, failures, retries, backwards, lastLoadMs, lastLoadAt, lastError: message };
  }

  private plannedStep(startedAt: number): number | undefined {
    if (this.loads < STATIC_LOADS) return undefined;
    const { options } = this.context;
    const policy = { ...options, maxStep: Math.min(options.maxStep, this.databaseMaxStep ?? Infinity) };
    return nextStep(this.step, this.databaseStep, startedAt - this.loadStartedAt, policy);
  }

  /**
   * As {@link allocate}. If the tag has fewer IDs left than `size`, allocates one step of the row; if it has fewer than
   * that, all that are left.
   */
  private async allocateOrLess(size: number | undefined): Promise<IdRange[]> {
    try {
      return await this.allocate(size);
    } catch (error) {
      if (!isLeafError(error, 'LEAF_TAG_EXHAUSTED')) throw error;
      if ((size ?? 0) > this.databaseStep) return this.allocateOrLess(undefined);
      if (!(error instanceof TagExhaustedError) || error.left < 1n) throw error;
      return this.allocateOrLess(Number(error.left));
    }
  }

  private async assertUsable(
    { from, to, step }: Pick<Allocation, 'from' | 'to' | 'step'>,
    isNew: (range: IdRange) => boolean,
  ): Promise<void> {
    const { store } = this.context;
    if (from < 1n || to < from || to > MAX_ID || step < 1) {
      throw new LeafError(
        'LEAF_TAG_ROW_INVALID',
        `The row of tag "${this.tag}" in leaf_alloc allocated the IDs ${from} to ${to} with step ${step}. Set max_id and step to 1 or more.`,
      );
    }
    if (isNew({ from, to })) return;
    this.countBackwards();
    await store.recover(this.tag, this.highest + 1n);
    throw new LeafError(
      'LEAF_STORE_BACKWARDS',
      `The database returned ID ${from} for tag "${this.tag}", but IDs up to ${this.highest} are already taken. It lost updates in a failover or a restore, or the row was deleted and inserted again. Leaf moved the tag forward, above what other servers may have issued; check the other tags.`,
      { retryAfterMs: 1000 },
    );
  }

  private countBackwards(): void {
    (this.faults ??= new LoadFaults()).backwards++;
    this.context.totals.backwards++;
  }
}
