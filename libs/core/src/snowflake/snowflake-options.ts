import { milliseconds, type Rules, whole } from '../util/options';

export interface SnowflakeOptions {
  /** Largest backward clock step that is absorbed, in milliseconds. */
  readonly maxBackwardsMs: number;
  /** Longest wait of an asynchronous call, in milliseconds. */
  readonly waitMs: number;
  /**
   * A new millisecond starts its sequence at a random number below this; 0: always at 0. With a power of two, `id % n`
   * of slow callers is evenly distributed for every power of two up to it. More than the layout has is all of it. The
   * start takes IDs from the millisecond, unless the one before was used up: then the sequence starts at 0.
   */
  readonly sequenceStart: number;
}

export const DEFAULT_SNOWFLAKE_OPTIONS: SnowflakeOptions = { maxBackwardsMs: 5, waitMs: 1000, sequenceStart: 1024 };

export const SNOWFLAKE_RULES: Rules<SnowflakeOptions> = {
  maxBackwardsMs: milliseconds(0),
  waitMs: milliseconds(0),
  sequenceStart: whole(0),
};

export interface SnowflakeSnapshot {
  /** Undefined while no worker ID is held. */
  readonly workerId: number | undefined;
  readonly issued: number;
  /** Unix milliseconds of the newest ID, -1 before the first. */
  readonly lastTimestamp: number;
  /** How far the clock is behind the newest ID, in milliseconds, 0 or more. */
  readonly behindMs: number;
  /** Backward clock steps observed, including absorbed ones. */
  readonly backwardsSteps: number;
}
