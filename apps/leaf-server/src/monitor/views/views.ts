import type * as overview from './overview';
import type * as segments from './segments';
import type * as snowflake from './snowflake';

/** The plain data of a class with OpenAPI decorators. */
type Data<T> = T extends object ? { [Key in keyof T]: Data<T[Key]> } : T;

/*
 * Responses of `/api/monitor`. IDs are decimal strings, times are Unix milliseconds, rates are per second. Null means
 * unknown or none.
 */
export type HistoryView = Data<overview.HistoryView>;
export type LatencyView = Data<overview.LatencyView>;
export type OverviewView = Data<overview.OverviewView>;
export type PartStatus = overview.PartStatus;
export type ServerState = overview.ServerState;
export type PartView = Data<overview.PartView>;
export type ProcessView = Data<overview.ProcessView>;
export type LoadView = Data<segments.LoadView>;
export type SegmentsView = Data<segments.SegmentsView>;
export type SegmentView = Data<segments.SegmentView>;
export type MonitorTag = Data<segments.MonitorTag>;
export type PeerView = Data<snowflake.PeerView>;
export type SnowflakeView = Data<snowflake.SnowflakeView>;
export type WorkerView = Data<snowflake.WorkerView>;

/**
 * Events of `GET /api/monitor/stream`, one round a second: `overview` (an {@link OverviewView} with only the history
 * since the previous round), `segments` (a {@link SegmentsView}: every tag in the first round, then changed tags only),
 * `removed` (names of removed tags), `snowflake` (a {@link SnowflakeView}).
 *
 * Each `segments` event has up to 250 tags; a round has as many of them as needed, or none if no tag changed. Clients
 * merge tags by name. `snowflake` ends the round. A slow client misses rounds; its next round has the missed changes.
 */
export interface RemovedView {
  readonly tags: readonly string[];
}
