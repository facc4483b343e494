import type { WatchedTag } from '../../monitor/monitor-store';
import type { Sorting } from '../../ui/virtual-table';
import { urgencyOf } from './buffer-shape';

export type SegmentColumn = 'tag' | 'rate' | 'buffer' | 'step' | 'lasts' | 'load';
export type Shown = 'all' | 'loaded' | 'busy' | 'trouble';

type Measure = (tag: WatchedTag) => number;

/** Tags that are not loaded or idle come last in ascending order. */
const MEASURES: Readonly<Record<Exclude<SegmentColumn, 'tag'>, Measure>> = {
  rate: ({ view }) => view.rate,
  buffer: ({ view }) => view.buffered,
  step: ({ view }) => view.step,
  lasts: ({ view }) => view.lastsMs ?? Infinity,
  load: ({ view }) => -(view.lastLoad.at ?? -Infinity),
};

const FILTERS: Readonly<Record<Shown, (tag: WatchedTag) => boolean>> = {
  all: () => true,
  loaded: ({ view }) => view.initialized,
  busy: ({ view }) => view.rate > 0,
  trouble: ({ view }) => view.paused || view.lastLoad.error !== null || urgencyOf(view.lastsMs) !== 'calm',
};

/** Tags whose name contains `search`, sorted; ties are sorted by name. */
export function selectTags(
  tags: Iterable<WatchedTag>,
  search: string,
  shown: Shown,
  { by, descending }: Sorting<SegmentColumn>,
): WatchedTag[] {
  const wanted = search.trim().toLowerCase();
  const found = [...tags].filter((tag) => tag.view.tag.toLowerCase().includes(wanted) && FILTERS[shown](tag));
  const sign = descending ? -1 : 1;
  const byName = (a: WatchedTag, b: WatchedTag): number => (a.view.tag < b.view.tag ? -1 : 1);
  if (by === 'tag') return found.sort((a, b) => sign * byName(a, b));
  const measure = MEASURES[by];
  return found.sort((a, b) => {
    const [left, right] = [measure(a), measure(b)];
    return left === right ? byName(a, b) : sign * (left < right ? -1 : 1);
  });
}
