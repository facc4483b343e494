/**
 * What `/api/monitor` answers. IDs are decimal strings, times Unix milliseconds, rates per second; null is "not known" or
 * "none".
 */
export type { HistoryView, LatencyView, OverviewView, PartStatus, PartView, ProcessView } from './overview';
export type { LoadView, SegmentsView, SegmentView, TagView } from './segments';
export type { PeerView, SnowflakeView, WorkerView } from './snowflake';

/**
 * Events of `GET /api/monitor/stream`, one round a second: `overview` (an {@link OverviewView} whose history is only what is
 * new since the last round), `segments` (a {@link SegmentsView}: every tag in the first round, then those that changed),
 * `removed` (names of tags that are gone), `snowflake` (a {@link SnowflakeView}).
 *
 * A round has as many `segments` events as it needs, up to 250 tags in each, none when nothing changed: tags are put in
 * place by name. `snowflake` ends it. A reader that is slow misses rounds and gets what changed meanwhile with its next one.
 */
export interface RemovedView {
  readonly tags: readonly string[];
}
