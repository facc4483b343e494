import type { StepPolicyOptions } from './step-policy';

export interface SegmentOptions extends StepPolicyOptions {
  /** Share of a segment, above 0 and up to 1, that is used when the next one is fetched. */
  readonly prefetchRatio: number;
  /** How long a call may wait for IDs that are not buffered, in milliseconds. */
  readonly waitMs: number;
}

export const DEFAULT_SEGMENT_OPTIONS: SegmentOptions = {
  prefetchRatio: 0.1,
  waitMs: 1000,
  durationMs: 900_000,
  maxStep: 1_000_000,
};
