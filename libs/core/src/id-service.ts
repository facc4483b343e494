import type { IdRange } from './segment/id-range';
import type { PeriodRanges } from './segment/periods';
import type { SnowflakeParts } from './snowflake/bit-layout';

/** Most IDs that one batch call hands out. */
export const MAX_BATCH_SIZE = 10_000;
/** Most IDs that one range call hands out. */
export const MAX_RANGE_SIZE = 1_000_000;

/** A number of a tag that begins anew with each day, month or year. */
export interface PeriodNumber {
  /** `2026-11-22`, `2026-11` or `2026`. */
  readonly period: string;
  readonly number: bigint;
}

/**
 * Unique 64-bit IDs, the same interface wherever they come from.
 *
 * The IDs of one tag ascend within one `IdService`, and across several only if the tag is strict; snowflake IDs ascend within one worker and
 * roughly by time across workers. Gaps are normal. An ID is handed out once or not at all: when uniqueness cannot be
 * proved, a call rejects with a `LeafError` whose `retryAfterMs` says when to come back.
 */
export abstract class IdService {
  /**
   * The next segment ID of `tag`.
   *
   * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_TAG_NOT_FOUND`, `LEAF_SEGMENT_DISABLED`, `LEAF_SEGMENT_UNAVAILABLE`
   *   when none can be had within the wait limit, `LEAF_TAG_EXHAUSTED`, `LEAF_TAG_ROW_INVALID`,
   *   `LEAF_STORE_UNAVAILABLE`, `LEAF_TAG_PAUSED`, `LEAF_NOT_READY`, `LEAF_OVERLOADED` when far more calls wait than can
   *   be served, `LEAF_TAG_PERIODIC` when the tag begins anew with each period: see {@link nextInPeriod}
   * @example const orderId = await ids.nextId('order');
   */
  abstract nextId(tag: string): Promise<bigint>;

  /** As {@link nextId}, in decimal. */
  abstract nextIdString(tag: string): Promise<string>;

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
   * The next number of `tag` in the day, month or year that `at` belongs to, in the zone of the tag. It is unique together
   * with the period only: keep both.
   *
   * @param at now when left out; how far from now it may lie depends on the tag's `reset`, see docs/periods.md
   * @throws LeafError as {@link nextId}, `LEAF_PERIOD_INVALID`, and `LEAF_TAG_NOT_PERIODIC` when the tag never begins
   *   anew
   * @example const { period, number } = await ids.nextInPeriod('invoice'); // '2026-11', 42n
   */
  abstract nextInPeriod(tag: string, at?: Date): Promise<PeriodNumber>;

  /**
   * As {@link nextInPeriod}, the next `count` numbers as ascending ranges, all of one period.
   *
   * @param count 1 to 1,000,000
   * @throws LeafError as {@link nextInPeriod}, and `LEAF_SIZE_INVALID`
   */
  abstract nextRangesInPeriod(tag: string, count: number, at?: Date): Promise<PeriodRanges>;

  /** The next segment ID of `tag` without waiting; undefined when {@link nextId} would have to wait or throw, as always for a strict tag. */
  abstract tryNext(tag: string): bigint | undefined;

  /**
   * The next snowflake ID. Blocks the thread for at most one millisecond, when the IDs of the current one are used up.
   *
   * @throws LeafError `LEAF_SNOWFLAKE_DISABLED`, `LEAF_NOT_READY`, `LEAF_CLOCK_BACKWARDS`, `LEAF_LEASE_EXPIRED`,
   *   `LEAF_LEASE_LOST`, `LEAF_EPOCH_EXHAUSTED`, `LEAF_OVERLOADED`
   */
  abstract snowflake(): bigint;

  /** As {@link snowflake}, in decimal. */
  abstract snowflakeString(): string;

  /** The next snowflake ID in decimal without waiting; undefined when it would have to wait or be refused. */
  abstract trySnowflakeString(): string | undefined;

  /**
   * The next `count` snowflake IDs, ascending; waits without blocking.
   *
   * @param count 1 to 10,000
   * @throws LeafError as {@link snowflake}, and `LEAF_SIZE_INVALID`
   */
  abstract snowflakes(count: number): Promise<bigint[]>;

  /** As {@link snowflakes}, in decimal. */
  abstract snowflakeStrings(count: number): Promise<string[]>;

  /**
   * The fields of a snowflake ID of this service's layout.
   *
   * @throws LeafError `LEAF_ID_INVALID`
   */
  abstract decode(id: bigint): SnowflakeParts;
}

/** Of ranges that hold one number. */
export function onlyNumber({ period, ranges: [range] }: PeriodRanges): PeriodNumber {
  if (range === undefined) throw new Error('there is no number');
  return { period, number: range.from };
}
