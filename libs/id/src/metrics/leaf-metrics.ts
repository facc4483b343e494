import type { LeafStatus, RegistryStatus, SegmentStatus, SnowflakeStatus } from '../runtime/status';
import type { OpenNumbers } from '@leaf-ids/core/internal';
import type { EmbeddedIdService } from '../runtime/embedded-id-service';
import { addMetrics, type HistogramSample, type Metric, type MetricsRegistry, type Sample } from './metric-set';
import { OTHER_TAGS, type TagFigures, TagSeries, type TagsReading } from './tag-series';

/** The source of the metrics. */
export interface LeafFigures {
  readonly status: LeafStatus;
  /** Undefined when segment mode is disabled. */
  readonly tags: TagsReading | undefined;
}

/** A metric, exposed only when its part is enabled. */
type LeafMetric = Metric<LeafFigures> & { readonly part?: 'segment' | 'snowflake' };

/** Every metric of a runtime, for servers and for applications. */
export const LEAF_METRICS: readonly LeafMetric[] = [
  {
    name: 'leaf_ids_issued_total',
    type: 'counter',
    help: 'IDs issued',
    labels: ['mode', 'tag'],
    read: issued,
  },
  {
    name: 'leaf_segment_tags',
    type: 'gauge',
    help: 'Number of known tags',
    shared: 'most',
    ...segment(({ tags }) => tags),
  },
  {
    name: 'leaf_segment_tags_paused',
    type: 'gauge',
    help: 'Tags paused on this server',
    shared: 'most',
    ...segment(({ pausedTags }) => pausedTags),
  },
  {
    name: 'leaf_segment_loads_total',
    type: 'counter',
    help: 'Segments loaded from the database',
    ...segment(({ loads }) => loads),
  },
  {
    name: 'leaf_segment_load_failures_total',
    type: 'counter',
    help: 'Failed allocations',
    ...segment(({ loadFailures }) => loadFailures),
  },
  {
    name: 'leaf_segment_load_retries_total',
    type: 'counter',
    help: 'Retried allocations',
    ...segment(({ loadRetries }) => loadRetries),
  },
  {
    name: 'leaf_segment_load_duration_seconds',
    type: 'histogram',
    help: 'Duration of allocations in the database',
    part: 'segment',
    read: ({ status }): HistogramSample[] =>
      status.segment === undefined ? [] : [{ labels: {}, times: status.segment.loadTimes }],
  },
  {
    name: 'leaf_segment_store_backwards_total',
    type: 'counter',
    help: 'Ranges refused because they were already taken',
    ...segment(({ backwards }) => backwards),
  },
  {
    name: 'leaf_segment_refresh_failures_total',
    type: 'counter',
    help: 'Failed tag refreshes',
    ...segment(({ refreshFailures }) => refreshFailures),
  },
  {
    name: 'leaf_segment_remaining_ids',
    type: 'gauge',
    help: 'Buffered IDs',
    ...perTag(({ stock }) => stock?.buffered),
  },
  {
    name: 'leaf_segment_step',
    type: 'gauge',
    help: 'Size of the newest segment',
    ...perTag(({ stock }) => stock?.step),
  },
  {
    name: 'leaf_segment_exhaustion_seconds',
    type: 'gauge',
    help: 'Seconds until the buffered IDs run out, at the rate of the last minute',
    ...perTag(({ stock }) => stock?.lastsSeconds),
  },
  {
    name: 'leaf_numbers_open',
    type: 'gauge',
    help: 'Numbers of gapless tags that are neither confirmed nor void',
    ...gapless(({ count }) => count),
  },
  {
    name: 'leaf_numbers_oldest_open_seconds',
    type: 'gauge',
    help: 'Age of the oldest open number of a gapless tag; 0 without one',
    ...gapless(({ oldest }, now) => (oldest === undefined ? 0 : Math.max(0, now - oldest) / 1000)),
  },
  {
    name: 'leaf_numbers_journal_lines',
    type: 'gauge',
    help: 'Lines in the journals of gapless tags',
    ...gapless(({ lines }) => lines),
  },
  {
    name: 'leaf_tag_end_seconds',
    type: 'gauge',
    help: 'Seconds until a tag runs out of IDs, at the rate of the last days',
    shared: 'least',
    part: 'segment',
    labels: ['tag'],
    read: ({ status: { ends = [], now } }): Sample[] =>
      ends.map(({ tag, endsAt }) => ({ labels: { tag }, value: Math.max(0, endsAt - now) / 1000 })),
  },
  {
    name: 'leaf_worker_id',
    type: 'gauge',
    help: 'Worker ID of this server',
    ...snowflake(({ workerId }) => workerId),
  },
  {
    name: 'leaf_lease_left_seconds',
    type: 'gauge',
    help: 'Reserved time left until the ceiling of the lease',
    // Nothing is reserved before the first acquisition.
    ...registry(({ ceiling }, now) => (ceiling < 0 ? undefined : (ceiling - now) / 1000)),
  },
  {
    name: 'leaf_lease_lost',
    type: 'gauge',
    help: '1 if the lease of the worker ID is lost',
    ...registry(({ lost }) => Number(lost !== undefined)),
  },
  {
    name: 'leaf_lease_report_age_seconds',
    type: 'gauge',
    help: 'Time since the last successful report to the worker registry',
    ...registry(({ sinceRecordedMs }) => sinceRecordedMs / 1000),
  },
  {
    name: 'leaf_lease_report_failures_total',
    type: 'counter',
    help: 'Failed reports to the worker registry',
    ...registry(({ report }) => report.failures),
  },
  {
    name: 'leaf_clock_offset_seconds',
    type: 'gauge',
    help: 'Clock offset from the other servers at startup; positive means ahead',
    ...snowflake(({ clockOffsetMs }) => clockOffsetMs && clockOffsetMs / 1000),
  },
  {
    name: 'leaf_clock_backwards_total',
    type: 'counter',
    help: 'Backward clock steps, including absorbed ones',
    ...snowflake(({ backwardsSteps }) => backwardsSteps),
  },
  {
    name: 'leaf_epoch_left_seconds',
    type: 'gauge',
    help: 'Time until the timestamp bits overflow',
    shared: 'least',
    ...snowflake(({ layout }, now) => (layout.endsAt - now) / 1000),
  },
  {
    name: 'leaf_registry_trouble',
    type: 'gauge',
    help: '1 while the worker file replaces the worker registry',
    ...registry(({ degradedReason }) => Number(degradedReason !== undefined)),
  },
  {
    name: 'leaf_registry_maintenance_failures_total',
    type: 'counter',
    help: 'Failed runs of registry housekeeping',
    ...registry(({ maintenanceFailures }) => maintenanceFailures),
  },
  {
    name: 'leaf_registry_workers_used',
    type: 'gauge',
    help: 'Worker IDs that a new server cannot acquire',
    shared: 'most',
    ...registry(({ workers }) => workers?.used),
  },
  {
    name: 'leaf_registry_workers_max',
    type: 'gauge',
    help: 'Total number of worker IDs',
    shared: 'most',
    ...registry(({ workers }) => workers?.most),
  },
  {
    name: 'leaf_worker_id_missing',
    type: 'gauge',
    help: '1 while this server has no worker ID because all that it may take are used',
    ...snowflake(({ health }) => Number(health.code === 'LEAF_WORKERS_USED_UP')),
  },
];

/** The metrics of the enabled parts. */
export function metricsOf(status: LeafStatus): LeafMetric[] {
  return LEAF_METRICS.filter(({ part }) => part === undefined || status[part] !== undefined);
}

type Reader<Part> = (part: Part, now: number) => number | undefined;

interface Read<Part> {
  readonly part: Part;
  readonly labels?: readonly string[];
  readonly read: (figures: LeafFigures) => number | undefined | readonly Sample[];
}

function segment(read: Reader<SegmentStatus>): Read<'segment'> {
  return { part: 'segment', read: ({ status }) => status.segment && read(status.segment, status.now) };
}

/** One sample for each gapless tag; each process of a server reads the same. */
function gapless(valueOf: (open: OpenNumbers, now: number) => number): Read<'segment'> & { readonly shared: 'most' } {
  const read = ({ status: { numbers = [], now } }: LeafFigures): Sample[] =>
    numbers.map((open) => ({ labels: { tag: open.tag }, value: valueOf(open, now) }));
  return { part: 'segment', labels: ['tag'], shared: 'most', read };
}

function snowflake(read: Reader<SnowflakeStatus>): Read<'snowflake'> {
  return { part: 'snowflake', read: ({ status }) => status.snowflake && read(status.snowflake, status.now) };
}

function registry(read: Reader<RegistryStatus>): Read<'snowflake'> {
  return { part: 'snowflake', read: ({ status }) => status.registry && read(status.registry, status.now) };
}

/** One sample per tag; none for a tag without a value. */
function perTag(valueOf: (figures: TagFigures) => number | undefined): Read<'segment'> {
  const read = ({ tags }: LeafFigures): Sample[] =>
    (tags?.figures ?? []).flatMap((figures) => {
      const value = valueOf(figures);
      return value === undefined ? [] : [{ labels: { tag: figures.tag }, value }];
    });
  return { part: 'segment', labels: ['tag'], read };
}

function issued({ status, tags }: LeafFigures): Sample[] {
  const segments = tags === undefined ? [] : [...tags.figures, { tag: OTHER_TAGS, issued: tags.otherIssued }];
  const samples = segments.map(({ tag, issued: value }) => ({ labels: { mode: 'segment', tag }, value }));
  if (status.snowflake === undefined) return samples;
  return [...samples, { labels: { mode: 'snowflake', tag: '' }, value: status.snowflake.issued }];
}

export interface LeafMetricsOptions {
  /** Replaces the prefix `leaf_` of every name, for a second Leaf in one process. */
  readonly prefix?: string;
}

/**
 * Adds the metrics of docs/metrics.md to a registry of prom-client. They are read at each scrape, and add no cost to
 * the issue of IDs.
 *
 * @example await registerLeafMetrics(register, app.get(EmbeddedIdService));
 */
export function registerLeafMetrics(
  registry: MetricsRegistry,
  ids: EmbeddedIdService,
  { prefix }: LeafMetricsOptions = {},
): Promise<void> {
  const tags = ids.segmentService && new TagSeries(ids.segmentService.generator);
  addMetrics(registry, metricsOf(ids.status()), () => ({ status: ids.status(), tags: tags?.read() }), prefix);
  return Promise.resolve();
}
