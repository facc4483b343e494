import { milliseconds, type Rules, whole } from '../util/options';

export interface SnowflakeOptions {
  /** Largest backward clock step that is absorbed, in milliseconds. */
  readonly maxBackwardsMs: number;
  /** Longest wait of an asynchronous call, in milliseconds. */
  readonly waitMs: number;
  /**
   * A new millisecond starts its sequence at a random number below this, so that the remainders of the IDs of slow
   * callers are even up to this power of two; 0: always at 0. It never exceeds the sequence of the layout. A
   * millisecond has this many IDs less at most, unless it follows a used-up one: then its sequence starts at 0.
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
