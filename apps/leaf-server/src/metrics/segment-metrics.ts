import type { SegmentService } from '@leaf/segment';
import type { IssueRates } from '../monitor/sampling/issue-rates';
import type { Families, Sample } from './families';
import type { TagFigures, TagSeries } from './tag-series';

export function addSegmentMetrics(
  families: Families,
  segments: SegmentService,
  tags: TagSeries,
  rates: IssueRates,
): void {
  families.gauge('leaf_segment_tags', 'Tags known', () => tags.known, 'most');
  families.gauge('leaf_segment_tags_paused', 'Tags paused on this server', () => segments.pausedTags().length, 'most');
  families.counter('leaf_segment_loads_total', 'Segments loaded from the store', () => segments.loadTotals().loads);
  families.counter('leaf_segment_load_failures_total', 'Allocations that failed', () => segments.loadTotals().failures);
  families.counter(
    'leaf_segment_load_retries_total',
    'Allocations tried again after one that failed',
    () => segments.loadTotals().retries,
  );
  families.histogram('leaf_segment_load_duration_seconds', 'Time that the store took for an allocation', () => [
    { labels: {}, times: segments.loadTimes() },
  ]);
  families.counter(
    'leaf_segment_store_backwards_total',
    'Ranges refused that were taken already',
    () => segments.loadTotals().backwards,
  );
  families.counter(
    'leaf_segment_refresh_failures_total',
    'Refreshes of the tags that failed',
    () => segments.refreshSnapshot().failures,
  );
  families.gauge('leaf_segment_remaining_ids', 'IDs at hand without asking the store', () =>
    perTag(tags, ({ stock }) => stock?.buffered),
  );
  families.gauge('leaf_segment_step', 'Size of the newest segment', () => perTag(tags, ({ stock }) => stock?.step));
  families.gauge(
    'leaf_segment_exhaustion_seconds',
    'How long the IDs at hand last at the rate of the last minute',
    // A strict tag never has any at hand: there is nothing that could run out.
    () =>
      perTag(tags, ({ tag, stock }) =>
        segments.isStrict(tag) ? undefined : lasting(stock?.buffered, rates.rateOf(tag)),
      ),
  );
}

/** One sample a tag, except where there is nothing to say. */
function perTag(tags: TagSeries, valueOf: (figures: TagFigures) => number | undefined): Sample[] {
  return tags.figures().flatMap((figures) => {
    const value = valueOf(figures);
    return value === undefined ? [] : [{ labels: { tag: figures.tag }, value }];
  });
}

function lasting(ids: number | undefined, rate: number): number | undefined {
  return ids === undefined || rate === 0 ? undefined : ids / rate;
}
