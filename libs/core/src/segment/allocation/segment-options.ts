import { fraction, milliseconds, type Rules, whole } from '../../util/options';

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

export interface StepPolicyOptions {
  /** T in milliseconds: a segment should last between T and 2T. */
  readonly durationMs: number;
  /** Maximum of the dynamic step. */
  readonly maxStep: number;
}

/**
 * The dynamic step of Meituan's Leaf. If a segment lasted less than T, the step doubles; if less than 2T, it stays;
 * otherwise it is halved. The result is at least the step in the database, and at most the larger of that and
 * `maxStep`. Changes to these bounds apply immediately.
 *
 * @param step step of the previous load
 * @param databaseStep last known step in the row
 * @param elapsedMs time between the previous load and this one
 */
export function nextStep(
  step: number,
  databaseStep: number,
  elapsedMs: number,
  { durationMs, maxStep }: StepPolicyOptions,
): number {
  const most = Math.max(databaseStep, maxStep);
  const least = Math.min(Math.max(step, databaseStep), most);
  if (elapsedMs < durationMs) return Math.min(least * 2, most);
  if (elapsedMs < 2 * durationMs) return least;
  return Math.min(Math.max(databaseStep, Math.floor(step / 2)), most);
}
