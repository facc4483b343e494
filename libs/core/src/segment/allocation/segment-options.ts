import { fraction, milliseconds, type Rules, whole } from '../../util/options';
import type { StepPolicyOptions } from './step-policy';

export interface SegmentOptions extends StepPolicyOptions {
  /** Used share of a segment, above 0 and up to 1, at which the next one is prefetched. */
  readonly prefetchRatio: number;
  /** Longest wait of a call for IDs that are not buffered, in milliseconds. */
  readonly waitMs: number;
}

export const DEFAULT_SEGMENT_OPTIONS: SegmentOptions = {
  prefetchRatio: 0.1,
  waitMs: 1000,
  durationMs: 900_000,
  maxStep: 1_000_000,
};

export const SEGMENT_RULES: Rules<SegmentOptions> = {
  prefetchRatio: fraction(0.001, 1),
  waitMs: milliseconds(0),
  durationMs: milliseconds(1),
  maxStep: whole(1),
};
