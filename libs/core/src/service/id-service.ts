import { assertCount } from '../util/options';
import { type IdRange, MAX_BATCH_SIZE, numberOf, numbersOf } from '../segment/tags/id-range';
import type { PeriodRanges } from '../segment/tags/periods';
import type { SnowflakeParts } from '../snowflake/bit-layout';

/** A number of a tag that restarts each day, month or year. */
export interface PeriodNumber {
  /** `2026-11-22`, `2026-11` or `2026`. */
  readonly period: string;
  readonly number: bigint;
}

/**
 * Unique 64-bit IDs. The interface is the same for every source of IDs.
 *
 * The IDs of a tag ascend within one `IdService`; across several, only if the tag is strict. Snowflake IDs ascend
 * within one worker, and roughly by time across workers. Gaps are normal. Each ID is issued at most once: if uniqueness
 * cannot be proved, the call rejects with a `LeafError` whose `retryAfterMs` says when to retry.
 */
export abstract class IdService {
  /**
   * The next segment ID of `tag`.
   *
   * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_TAG_NOT_FOUND`, `LEAF_SEGMENT_DISABLED`, `LEAF_SEGMENT_UNAVAILABLE`
   *   when no ID is available within the wait limit, `LEAF_TAG_EXHAUSTED`, `LEAF_TAG_ROW_INVALID`,
   *   `LEAF_STORE_UNAVAILABLE`, `LEAF_TAG_PAUSED`, `LEAF_NOT_READY`, `LEAF_OVERLOADED` when too many calls wait,
   *   `LEAF_TAG_PERIODIC` when the tag restarts with each period: see {@link nextInPeriod}
   * @example const orderId = await ids.nextId('order');
   */
  abstract nextId(tag: string): Promise<bigint>;

  /** As {@link nextId}, in decimal. */
  abstract nextIdString(tag: string): Promise<string>;

  /**
   * The next segment ID of `tag` as a number, which costs less than a bigint. No snowflake ID of the default layout fits
   * into a number.
   *
   * @throws LeafError as {@link nextId}, and `LEAF_ID_TOO_LARGE` if the ID exceeds 2^53 - 1; it becomes a gap
   */
  async nextNumber(tag: string): Promise<number> {
    return this.tryNextNumber(tag) ?? numberOf(await this.nextId(tag));
  }

  /**
   * As {@link nextIds}, as numbers.
   *
   * @throws LeafError as {@link nextIds} and {@link nextNumber}
   */
  async nextNumbers(tag: string, count: number): Promise<number[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return numbersOf(await this.nextRanges(tag, count));
  }

  /**
   * The next `count` IDs of `tag`, ascending.
   *
   * @param count 1 to 10,000
   * @throws LeafError as {@link nextId}, and `LEAF_SIZE_INVALID`
   */
  abstract nextIds(tag: string, count: number): Promise<bigint[]>;

  /**
   * The next `count` IDs of `tag` as ascending ranges.
   *
   * @param count 1 to 1,000,000
   * @throws LeafError as {@link nextIds}
   */
  abstract nextRanges(tag: string, count: number): Promise<IdRange[]>;

  /**
   * The next number of `tag` in the day, month or year of `at`, in the time zone of the tag. It is unique only together
   * with the period: store both.
   *
   * @param at defaults to now; docs/periods.md lists the allowed distance from now for each `reset`
   * @throws LeafError as {@link nextId}, `LEAF_PERIOD_INVALID`, and `LEAF_TAG_NOT_PERIODIC` when the tag has no periods
   * @example const { period, number } = await ids.nextInPeriod('invoice'); // '2026-11', 42n
   */
  abstract nextInPeriod(tag: string, at?: Date): Promise<PeriodNumber>;

  /**
   * The next `count` numbers of one period as ascending ranges; see {@link nextInPeriod}.
   *
   * @param count 1 to 1,000,000
   * @throws LeafError as {@link nextInPeriod}, and `LEAF_SIZE_INVALID`
   */
  abstract nextRangesInPeriod(tag: string, count: number, at?: Date): Promise<PeriodRanges>;

  /**
   * The next segment ID of `tag` without waiting. Undefined if {@link nextId} would wait or throw; always undefined for
   * a strict tag.
   */
  abstract tryNext(tag: string): bigint | undefined;

  /** As {@link tryNext}, as a number. Undefined if {@link nextNumber} would wait or throw. */
  abstract tryNextNumber(tag: string): number | undefined;

  /**
   * The next snowflake ID. Blocks the thread for at most one millisecond, if the IDs of the current one are used up.
   *
   * @throws LeafError `LEAF_SNOWFLAKE_DISABLED`, `LEAF_NOT_READY`, `LEAF_CLOCK_BACKWARDS`, `LEAF_LEASE_EXPIRED`,
   *   `LEAF_LEASE_LOST`, `LEAF_EPOCH_EXHAUSTED`, `LEAF_OVERLOADED`
   */
  abstract snowflake(): bigint;

  /** As {@link snowflake}, in decimal. */
  abstract snowflakeString(): string;

  /** The next snowflake ID without waiting; undefined if {@link snowflake} would wait or throw. */
  trySnowflake(): bigint | undefined {
    const id = this.trySnowflakeString();
    return id === undefined ? undefined : BigInt(id);
  }

  /** The next snowflake ID in decimal without waiting; undefined if {@link snowflakeString} would wait or throw. */
  abstract trySnowflakeString(): string | undefined;

  /**
   * The next `count` snowflake IDs, ascending. Waits without blocking the thread.
   *
   * @param count 1 to 10,000
   * @throws LeafError as {@link snowflake}, and `LEAF_SIZE_INVALID`
   */
  abstract snowflakes(count: number): Promise<bigint[]>;

  /** As {@link snowflakes}, in decimal. */
  abstract snowflakeStrings(count: number): Promise<string[]>;

  /**
   * Decodes a snowflake ID with this service's layout.
   *
   * @throws LeafError `LEAF_ID_INVALID`
   */
  abstract decode(id: bigint): SnowflakeParts;
}

/** Returns the only number of ranges that contain one. */
export function onlyNumber({ period, ranges: [range] }: PeriodRanges): PeriodNumber {
  if (range === undefined) throw new Error('The ranges contain no number.');
  return { period, number: range.from };
}
