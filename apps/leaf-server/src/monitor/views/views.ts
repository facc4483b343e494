/**
 * What `/api/monitor` answers. IDs are decimal strings, times Unix milliseconds, rates per second; null is "not known" or
 * "none".
 */

export type PartStatus = 'up' | 'degraded' | 'down' | 'off';

/** One thing that the server stands on, or is made of. */
export interface PartView {
  readonly name: 'segment' | 'snowflake' | 'database' | 'registry' | 'clock' | 'drain';
  readonly status: PartStatus;
  /** What it is, without secrets: `mysql://db:3306/leaf`, `zk_recycle (…), worker 39`. */
  readonly description: string;
  /** Why it is not up. */
  readonly reason: string | null;
}

/** One value a step, oldest first. */
export interface HistoryView {
  readonly stepMs: number;
  /** End of the last step. */
  readonly endsAt: number;
  /** IDs per second. */
  readonly segment: readonly number[];
  readonly snowflake: readonly number[];
  /** Answers with status 400 or above, per second. */
  readonly errors: readonly number[];
}

export interface LatencyView {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** One of the processes that are the server. */
export interface ProcessView {
  /** From 0. */
  readonly process: number;
  /** It takes requests. */
  readonly ready: boolean;
  /** Why nothing, or not all, is known of it. */
  readonly reason: string | null;
  /** Null of one that does not answer, as all below. */
  readonly startedAt: number | null;
  /** Null with snowflake mode off, too. */
  readonly workerId: number | null;
  readonly issued: OverviewView['issued'] | null;
  readonly rate: OverviewView['rate'] | null;
}

/** `GET /api/monitor/overview` */
export interface OverviewView {
  readonly name: string;
  readonly version: string;
  /** `ip:port` by which the other servers know this one. */
  readonly instance: string;
  readonly now: number;
  readonly startedAt: number;
  readonly ready: boolean;
  readonly parts: readonly PartView[];
  /** IDs handed out since the start. */
  readonly issued: { readonly segment: number; readonly snowflake: number };
  /** IDs per second, of the last seconds. */
  readonly rate: { readonly segment: number; readonly snowflake: number };
  readonly errorRate: number;
  /** Milliseconds, of the requests of the last minute; null when there were none. */
  readonly latencyMs: LatencyView | null;
  /** The last 15 minutes. */
  readonly history: HistoryView;
  /** One each; all that is above is of all of them together. */
  readonly processes: readonly ProcessView[];
}

export interface SegmentView {
  /** The next ID to be issued of it. */
  readonly value: string;
  /** One past its last ID. */
  readonly max: string;
  /** Its size. */
  readonly step: number;
}

export interface LoadView {
  /** When the last segment came; null before the first. */
  readonly at: number | null;
  /** How long the database took for it. */
  readonly ms: number | null;
  /** Of the newest load, when it failed. */
  readonly error: string | null;
}

/** One tag of `GET /api/monitor/segments` */
export interface TagView {
  readonly tag: string;
  /** Its IDs ascend over all servers: it has no segments. */
  readonly strict: boolean;
  /** A segment was loaded. */
  readonly initialized: boolean;
  readonly nextReady: boolean;
  readonly loading: boolean;
  readonly paused: boolean;
  /** Of a tag that begins anew: the newest period in use, which is shown; null of all other tags, and before the first. */
  readonly period: string | null;
  /** The next ID; null before the first segment. */
  readonly position: string | null;
  /** The current one and the next one. */
  readonly segments: readonly [SegmentView | null, SegmentView | null];
  /** Size of the newest load, and the step of the row as last seen; 0 before the first load. */
  readonly step: number;
  readonly databaseStep: number;
  readonly issued: number;
  /** IDs at hand without the database. */
  readonly buffered: number;
  /** IDs per second, of the last minute. */
  readonly rate: number;
  /** How long `buffered` lasts at that rate; null when idle. */
  readonly lastsMs: number | null;
  readonly loads: number;
  readonly failures: number;
  readonly lastLoad: LoadView;
}

/** `GET /api/monitor/segments` */
export interface SegmentsView {
  readonly enabled: boolean;
  readonly now: number;
  /** Share of a segment that is used when the next one is fetched. */
  readonly prefetchRatio: number;
  readonly tags: readonly TagView[];
}

export interface PeerView {
  readonly instance: string;
  readonly workerId: number | null;
}

/** `GET /api/monitor/snowflake` */
export interface SnowflakeView {
  readonly enabled: boolean;
  readonly now: number;
  /** Null while the mode is off or has no worker ID yet. */
  readonly worker: WorkerView | null;
  /** That of each process; the first of them is `worker`. */
  readonly workers: readonly WorkerView[];
  /** Why no ID can be issued now. */
  readonly refusal: { readonly code: string; readonly detail: string } | null;
}

export interface WorkerView {
  readonly registry: string;
  /** Null while none is held. */
  readonly workerId: number | null;
  readonly maxWorkerId: number;
  readonly instance: string;
  /** No ID carries a time at or below the floor, nor above the ceiling. */
  readonly floor: number;
  readonly ceiling: number;
  readonly horizonMs: number;
  readonly lost: string | null;
  /** Why the server runs from its worker file; null while the registry is reached. */
  readonly trouble: string | null;
  readonly report: {
    /** When the registry last recorded a ceiling. */
    readonly at: number | null;
    readonly failures: number;
    readonly error: string | null;
  };
  readonly clock: {
    /** Against those of the others, at the start; null when there were none. */
    readonly offsetMs: number | null;
    readonly backwardsSteps: number;
  };
  readonly issued: number;
  readonly layout: {
    readonly epoch: number;
    readonly timeBits: number;
    readonly workerBits: number;
    readonly sequenceBits: number;
    /** The last millisecond that the layout can express. */
    readonly endsAt: number;
  };
  readonly peers: readonly PeerView[];
}

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
