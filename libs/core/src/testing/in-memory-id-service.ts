import type { Clock } from '../clock/clock';
import { FakeClock } from '../clock/fake-clock';
import { type LeafErrorCode, ERROR_CATALOGUE } from '../errors/error-catalogue';
import { LeafError } from '../errors/leaf-error';
import { IdService, onlyNumber, type PeriodNumber } from '../service/id-service';
import { assertCount, assertOptions, having, list, object, type Rules, whole } from '../util/options';
import { type IdRange, idsOf, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '../segment/tags/id-range';
import type { PeriodRanges } from '../segment/tags/periods';
import { BitLayout, type BitLayoutOptions, DEFAULT_LAYOUT, type SnowflakeParts } from '../snowflake/bit-layout';
import { InMemoryTags, type InMemoryTag } from './in-memory-tags';

export interface InMemoryIdServiceOptions {
  /** The tags that exist; a bare name starts at 1. By default, every valid tag exists. */
  readonly tags?: readonly (string | InMemoryTag)[];
  /** Worker ID of the snowflake IDs; 0 by default. */
  readonly workerId?: number;
  /** Bit layout of the snowflake IDs; the default layout by default. */
  readonly layout?: BitLayoutOptions;
  /** Time of snowflake IDs and of periods; by default a `FakeClock`, which stands still at 2023-11-14T22:13:20Z. */
  readonly clock?: Clock;
}

/** Tags and layout have checks of their own. */
function rulesOf({ maxWorkerId }: BitLayout): Rules<InMemoryIdServiceOptions> {
  return { tags: list(() => []), workerId: whole(0, maxWorkerId), layout: () => [], clock: having('now', 'a Clock') };
}

/**
 * An `IdService` for tests. It opens no database, file or connection, and returns the same IDs in every run: tags count
 * from 1, and the snowflake IDs of one millisecond count from sequence 0. Not for production: another instance returns
 * the same IDs.
 *
 * @example
 * const ids = new InMemoryIdService({ tags: ['order'] });
 * await ids.nextId('order'); // 1n
 * ids.fail('LEAF_SEGMENT_UNAVAILABLE', { tag: 'order', times: 1 });
 * await ids.nextId('order'); // rejects
 */
export class InMemoryIdService extends IdService {
  private readonly layout: BitLayout;
  private readonly clock: Clock;
  private readonly failures = new PlannedFailures();
  private tags: InMemoryTags;
  /** Timestamp of the latest snowflake ID, in Unix milliseconds. */
  private timestamp = -1;
  private sequence = 0;

  /**
   * @throws LeafError `LEAF_CONFIG_INVALID`, `LEAF_TAG_INVALID`, `LEAF_BODY_INVALID`, `LEAF_LAYOUT_INVALID` for invalid
   * options
   */
  constructor(private readonly options: InMemoryIdServiceOptions = {}) {
    super();
    this.layout = new BitLayout(options.layout ?? DEFAULT_LAYOUT);
    assertOptions('InMemoryIdService', object(rulesOf(this.layout)), options);
    this.clock = options.clock ?? new FakeClock();
    this.tags = new InMemoryTags(options.tags, this.clock);
  }

  /**
   * Makes later calls fail with `error`, or with an error of that code. Calls that return undefined when they would fail
   * (`tryNext`, `tryNextNumber`, `trySnowflake`, `trySnowflakeString`) do so, and do not count as one of `times`.
   */
  fail(error: LeafError | LeafErrorCode, scope: FailureScope = {}): void {
    this.failures.add(error, scope);
  }

  /** Ends all failures of {@link fail}. */
  recover(): void {
    this.failures.clear();
  }

  /** Ends all failures, and starts all IDs again, as in a new instance. */
  reset(): void {
    this.recover();
    this.tags = new InMemoryTags(this.options.tags, this.clock);
    this.timestamp = -1;
  }

  async nextId(tag: string): Promise<bigint> {
    const [id] = await this.nextIds(tag, 1);
    return id as bigint;
  }

  async nextIdString(tag: string): Promise<string> {
    return String(await this.nextId(tag));
  }

  async nextIds(tag: string, count: number): Promise<bigint[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return idsOf(await this.nextRanges(tag, count));
  }

  nextRanges(tag: string, count: number): Promise<IdRange[]> {
    return promiseOf(() => {
      assertCount(count, MAX_RANGE_SIZE);
      this.failures.throwNext('segment', tag);
      return this.tags.take(tag, count);
    });
  }

  async nextInPeriod(tag: string, at?: Date): Promise<PeriodNumber> {
    return onlyNumber(await this.nextRangesInPeriod(tag, 1, at));
  }

  nextRangesInPeriod(tag: string, count: number, at?: Date): Promise<PeriodRanges> {
    return promiseOf(() => {
      assertCount(count, MAX_RANGE_SIZE);
      this.failures.throwNext('segment', tag);
      return this.tags.takeInPeriod(tag, count, at?.getTime());
    });
  }

  tryNext(tag: string): bigint | undefined {
    return this.failures.isNext('segment', tag) ? undefined : this.tags.tryTake(tag);
  }

  tryNextNumber(tag: string): number | undefined {
    if (this.failures.isNext('segment', tag)) return undefined;
    const id = this.tags.tryTake(tag, BigInt(Number.MAX_SAFE_INTEGER));
    return id === undefined ? undefined : Number(id);
  }

  snowflake(): bigint {
    this.failures.throwNext('snowflake');
    return this.compose();
  }

  snowflakeString(): string {
    return String(this.snowflake());
  }

  trySnowflakeString(): string | undefined {
    return this.failures.isNext('snowflake') ? undefined : String(this.compose());
  }

  snowflakes(count: number): Promise<bigint[]> {
    return promiseOf(() => {
      assertCount(count, MAX_BATCH_SIZE);
      this.failures.throwNext('snowflake');
      return Array.from({ length: count }, () => this.compose());
    });
  }

  async snowflakeStrings(count: number): Promise<string[]> {
    return (await this.snowflakes(count)).map(String);
  }

  decode(id: bigint): SnowflakeParts {
    return this.layout.decompose(id);
  }

  /** The clock may stand still: after the last sequence number of a millisecond, the timestamp runs ahead of it. */
  private compose(): bigint {
    const { layout, options } = this;
    const now = this.clock.now();
    if (now > this.timestamp) this.advanceTo(now);
    else if (this.sequence < layout.maxSequence) this.sequence++;
    else this.advanceTo(this.timestamp + 1);
    return layout.compose({ timestamp: this.timestamp, workerId: options.workerId ?? 0, sequence: this.sequence });
  }

  private advanceTo(timestamp: number): void {
    this.timestamp = timestamp;
    this.sequence = 0;
  }
}

/** Rejects where `act` throws. */
function promiseOf<T>(act: () => T): Promise<T> {
  return new Promise((resolve) => resolve(act()));
}

type Mode = 'segment' | 'snowflake';

/** The calls that fail. */
export interface FailureScope {
  /** Only calls for segment IDs, or only those for snowflake IDs; both by default. */
  readonly mode?: Mode;
  /** Only calls for this tag, which are calls for segment IDs; by default, for all tags. */
  readonly tag?: string;
  /** Number of calls that fail; by default all of them, until `recover()` or `reset()`. */
  readonly times?: number;
}

interface Failure extends Omit<FailureScope, 'times'> {
  readonly error: LeafError;
  /** Number of calls that are still to fail. */
  left: number;
}

/** The failures that a test has planned. The oldest one of a call is used first. */
class PlannedFailures {
  private failures: Failure[] = [];

  add(error: LeafError | LeafErrorCode, { times = Infinity, ...scope }: FailureScope): void {
    this.failures.push({ ...scope, error: typeof error === 'string' ? errorOf(error) : error, left: times });
  }

  clear(): void {
    this.failures = [];
  }

  isNext(mode: Mode, tag?: string): boolean {
    return this.find(mode, tag) !== undefined;
  }

  /** @throws LeafError the planned one, if there is one */
  throwNext(mode: Mode, tag?: string): void {
    const failure = this.find(mode, tag);
    if (failure === undefined) return;
    failure.left--;
    throw failure.error;
  }

  private find(mode: Mode, tag: string | undefined): Failure | undefined {
    return this.failures.find(
      (failure) =>
        failure.left > 0 &&
        (failure.mode === undefined || failure.mode === mode) &&
        (failure.tag === undefined || failure.tag === tag),
    );
  }
}

function errorOf(code: LeafErrorCode): LeafError {
  const isRetryable = new LeafError(code, '').retryable;
  return new LeafError(code, `${ERROR_CATALOGUE[code].title}.`, isRetryable ? { retryAfterMs: 1000 } : {});
}
