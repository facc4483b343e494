export interface SnowflakeOptions {
  /** Clock step backwards that is absorbed, in milliseconds. */
  readonly maxBackwardsMs: number;
  /** How long an asynchronous call may wait for its IDs, in milliseconds. */
  readonly waitMs: number;
}

export const DEFAULT_SNOWFLAKE_OPTIONS: SnowflakeOptions = { maxBackwardsMs: 5, waitMs: 1000 };

export interface SnowflakeSnapshot {
  /** Undefined while none is held. */
  readonly workerId: number | undefined;
  readonly issued: number;
  /** Unix milliseconds of the newest ID, -1 before the first. */
  readonly lastTimestamp: number;
  /** How far the clock is behind the newest ID, in milliseconds; 0 when it is not. */
  readonly behindMs: number;
  /** Steps backwards seen, absorbed ones included. */
  readonly backwardsSteps: number;
}
