import type * as overview from './overview';
import type * as segments from './segments';
import type * as snowflake from './snowflake';

/** The data of a class that describes it for OpenAPI. */
type Data<T> = T extends object ? { [Key in keyof T]: Data<T[Key]> } : T;

/*
 * What `/api/monitor` answers. IDs are decimal strings, times Unix milliseconds, rates per second; null is "not known" or
 * "none".
 */
export type HistoryView = Data<overview.HistoryView>;
export type LatencyView = Data<overview.LatencyView>;
export type OverviewView = Data<overview.OverviewView>;
export type PartStatus = overview.PartStatus;
export type PartView = Data<overview.PartView>;
export type ProcessView = Data<overview.ProcessView>;
export type LoadView = Data<segments.LoadView>;
export type SegmentsView = Data<segments.SegmentsView>;
export type SegmentView = Data<segments.SegmentView>;
export type TagView = Data<segments.TagView>;
export type PeerView = Data<snowflake.PeerView>;
export type SnowflakeView = Data<snowflake.SnowflakeView>;
export type WorkerView = Data<snowflake.WorkerView>;

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
