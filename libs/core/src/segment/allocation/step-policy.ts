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
