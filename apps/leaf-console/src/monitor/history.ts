import type { HistoryView } from './views';

const KEPT_MS = 15 * 60_000;

/** `known` with the steps of `news` written over its end; steps that neither has are 0. */
export function mergeHistory(known: HistoryView, news: HistoryView): HistoryView {
  const { stepMs, endsAt } = news;
  const later = Math.round((endsAt - known.endsAt) / stepMs);
  const size = Math.round(KEPT_MS / stepMs);
  if (stepMs !== known.stepMs || later < 0 || later > size) return news;
  const merge = (before: readonly number[], after: readonly number[]): number[] => {
    const gap = Math.max(0, later - after.length);
    const kept = before.slice(0, Math.max(0, before.length + later - gap - after.length));
    return [...kept, ...Array<number>(gap).fill(0), ...after].slice(-size);
  };
  return {
    stepMs,
    endsAt,
    segment: merge(known.segment, news.segment),
    snowflake: merge(known.snowflake, news.snowflake),
    errors: merge(known.errors, news.errors),
  };
}
