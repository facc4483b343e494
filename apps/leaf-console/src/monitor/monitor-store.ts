import { RateHistory } from './rate-history';
import type { HistoryView, MonitorTag, OverviewView, RemovedView, SegmentsView, SnowflakeView } from './views';

/** Length of the history, in milliseconds. */
const KEPT_MS = 15 * 60_000;

/** Appends `update` to `known` and overwrites steps in both. Steps in neither are 0. */
function mergeHistory(known: HistoryView, update: HistoryView): HistoryView {
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

/** The state of a tag on the server, and its rate as measured by this page. */
export interface WatchedTag {
  readonly view: MonitorTag;
  readonly rates: RateHistory;
}

interface SegmentSettings {
  readonly enabled: boolean;
  readonly prefetchRatio: number;
}

/** State of the server, updated by {@link MonitorStream}. Listeners are called once per round. */
export class MonitorStore {
  overview: OverviewView | undefined;
  snowflake: SnowflakeView | undefined;
  segments: SegmentSettings | undefined;
  readonly tags = new Map<string, WatchedTag>();
  /** Time at which the connection was lost, by the clock of this browser; undefined while connected. */
  staleSince: number | undefined;

  private readonly listeners = new Set<() => void>();
  private announced = false;
  private serverNow = 0;
  private heardAt = 0;
  /** Whether the next history is complete and replaces the current one. */
  private wholeHistory = true;
  /** Tags not yet received in the first round of a connection, which contains every tag. */
  private unnamed: Set<string> | undefined;

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Server time; it stops while disconnected. */
  now(): number {
    if (this.heardAt === 0) return Date.now();
    const sinceThen = this.staleSince === undefined ? performance.now() - this.heardAt : 0;
    return this.serverNow + sinceThen;
  }

  connected(): void {
    this.wholeHistory = true;
    this.unnamed = new Set(this.tags.keys());
  }

  lost(): void {
    this.staleSince ??= Date.now();
    this.announce();
  }

  takeOverview(view: OverviewView): void {
    const known = this.wholeHistory ? undefined : this.overview;
    this.wholeHistory = false;
    this.overview = known === undefined ? view : { ...view, history: mergeHistory(known.history, view.history) };
    this.hear(view.now);
  }

  takeSegments({ enabled, now, prefetchRatio, tags }: SegmentsView): void {
    this.segments = { enabled, prefetchRatio };
    for (const view of tags) {
      const rates = this.tags.get(view.tag)?.rates ?? new RateHistory(now, view.issued);
      rates.add(now, view.issued);
      this.tags.set(view.tag, { view, rates });
      this.unnamed?.delete(view.tag);
    }
    this.hear(now);
  }

  takeRemoved({ tags }: RemovedView): void {
    for (const tag of tags) this.tags.delete(tag);
    this.announce();
  }

  /** Ends a round. */
  takeSnowflake(view: SnowflakeView): void {
    for (const tag of this.unnamed ?? []) this.tags.delete(tag);
    this.unnamed = undefined;
    this.snowflake = view;
    this.hear(view.now);
  }

  private hear(serverNow: number): void {
    this.serverNow = serverNow;
    this.heardAt = performance.now();
    this.staleSince = undefined;
    this.announce();
  }

  /** Batches the events of one round, so that they are rendered together. */
  private announce(): void {
    if (this.announced) return;
    this.announced = true;
    setTimeout(() => {
      this.announced = false;
      for (const listener of this.listeners) listener();
    });
  }
}
