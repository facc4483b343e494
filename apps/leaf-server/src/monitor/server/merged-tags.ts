import { round2 } from '../sampling/traffic';
import type { MonitorTag } from '../views/views';
import type { FeedChanges, FeedPosition } from '../process/tag-change-log';

export interface TagsPage {
  /** The tags, sorted by name. */
  readonly tags: readonly MonitorTag[];
  /** The name after which there are more tags; undefined on the last page. */
  readonly end: string | undefined;
}

interface Followed {
  position: FeedPosition;
  readonly tags: Map<string, MonitorTag>;
}

/** The tags of several processes, brought together tag by tag. */
export class MergedTags {
  private readonly processes = new Map<number, Followed>();
  private readonly revisions = new Map<string, number>();
  private changes = 0;

  /** How far each process has been followed. */
  positions(): Record<number, FeedPosition> {
    return Object.fromEntries([...this.processes].map(([process, { position }]) => [process, position]));
  }

  take(process: number, { feed, round, whole, tags, gone }: FeedChanges): void {
    const before = this.processes.get(process);
    const followed = whole || before === undefined ? { position: { feed, round }, tags: new Map() } : before;
    if (followed !== before) this.forget(process);
    followed.position = { feed, round };
    this.processes.set(process, followed);
    for (const json of tags) {
      const view = JSON.parse(json) as MonitorTag;
      followed.tags.set(view.tag, view);
      this.touch(view.tag);
    }
    for (const tag of gone) {
      followed.tags.delete(tag);
      this.touch(tag);
    }
  }

  /** Forgets a process that has ended. */
  forget(process: number): void {
    const tags = this.processes.get(process)?.tags ?? new Map<string, MonitorTag>();
    this.processes.delete(process);
    for (const tag of tags.keys()) this.touch(tag);
  }

  names(): string[] {
    return [...this.revisions.keys()];
  }

  revisionOf(tag: string): number | undefined {
    return this.revisions.get(tag);
  }

  viewOf(tag: string): MonitorTag | undefined {
    return mergeTags([...this.processes.values()].flatMap(({ tags }) => tags.get(tag) ?? []));
  }

  private touch(tag: string): void {
    const known = [...this.processes.values()].some(({ tags }) => tags.has(tag));
    if (known) this.revisions.set(tag, ++this.changes);
    else this.revisions.delete(tag);
  }
}

/** The tags of the pages of several processes, up to the first end of a page with more after it. */
export function mergePages(pages: readonly TagsPage[]): TagsPage {
  const [end] = pages.flatMap((page) => page.end ?? []).sort();
  const byTag = new Map<string, MonitorTag[]>();
  for (const view of pages.flatMap(({ tags }) => tags)) {
    if (end !== undefined && view.tag > end) continue;
    byTag.set(view.tag, [...(byTag.get(view.tag) ?? []), view]);
  }
  const tags = [...byTag.keys()].sort().flatMap((tag) => mergeTags(byTag.get(tag) ?? []) ?? []);
  return { tags, end };
}

/** Sums; where there is nothing to sum up, what the first process that has a segment, of the newest period, says. */
export function mergeTags(views: readonly MonitorTag[]): MonitorTag | undefined {
  const period = views.reduce((newest, view) => ((view.period ?? '') > newest ? (view.period ?? '') : newest), '');
  const loaded = views.filter((view) => view.initialized && (view.period ?? '') === period);
  const [shown = views[0]] = loaded;
  if (shown === undefined || views.length === 1) return shown;
  const sum = (of: (view: MonitorTag) => number): number => views.reduce((total, view) => total + of(view), 0);
  const rate = round2(sum((view) => view.rate));
  const buffered = sum((view) => view.buffered);
  const newest = views.reduce((best, view) => ((view.lastLoad.at ?? 0) > (best.lastLoad.at ?? 0) ? view : best));
  const error = views.map(({ lastLoad }) => lastLoad.error).find((reason) => reason !== null) ?? null;
  return {
    ...shown,
    nextReady: loaded.length > 0 && loaded.every(({ nextReady }) => nextReady),
    loading: views.some(({ loading }) => loading),
    paused: views.some(({ paused }) => paused),
    step: Math.max(...views.map(({ step }) => step)),
    databaseStep: Math.max(...views.map(({ databaseStep }) => databaseStep)),
    issued: sum(({ issued }) => issued),
    buffered,
    rate,
    lastsMs: rate > 0 && !shown.strict ? Math.round((buffered * 1000) / rate) : null,
    loads: sum(({ loads }) => loads),
    failures: sum(({ failures }) => failures),
    lastLoad: { ...newest.lastLoad, error },
  };
}
