export interface StepPolicyOptions {
  /** T, in milliseconds: a segment should last between T and 2T. */
  readonly durationMs: number;
  /** The dynamic step does not grow above this. */
  readonly maxStep: number;
}

/**
 * The dynamic step of Meituan's Leaf: a segment that lasted less than T doubles the next one, one that lasted less than
 * 2T keeps it, a longer one halves it. Never below the step in the database, and never above the larger one of that and
 * `maxStep`; when one of these changes, it counts at once.
 *
 * @param step the step of the load before
 * @param databaseStep the step in the row, as last seen
 * @param elapsedMs time from that load to this one
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
