import type { HistoryView } from './views';

/** Length of the history, in milliseconds. */
const KEPT_MS = 15 * 60_000;

/** Appends `update` to `known` and overwrites steps in both. Steps in neither are 0. */
export function mergeHistory(known: HistoryView, update: HistoryView): HistoryView {
  const { stepMs, endsAt } = update;
  const later = Math.round((endsAt - known.endsAt) / stepMs);
  const size = Math.round(KEPT_MS / stepMs);
  if (stepMs !== known.stepMs || later < 0 || later > size) return update;
  const merge = (before: readonly number[], after: readonly number[]): number[] => {
    const gap = Math.max(0, later - after.length);
    const kept = before.slice(0, Math.max(0, before.length + later - gap - after.length));
    return [...kept, ...Array<number>(gap).fill(0), ...after].slice(-size);
  };
  return {
    stepMs,
    endsAt,
    segment: merge(known.segment, update.segment),
    snowflake: merge(known.snowflake, update.snowflake),
    errors: merge(known.errors, update.errors),
  };
}
