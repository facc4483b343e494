import type { MonitorStore } from './monitor-store';
import type { OverviewView, RemovedView, SegmentsView, SnowflakeView } from './views';

const STREAM = 'api/monitor/stream';
/** The server sends events once a second. After this time without an event, the connection counts as lost. */
const SILENCE_MS = 4000;
/** Pause before the stream is opened again, in milliseconds. */
const RETRY_MS = 1000;

interface Events {
  readonly overview: OverviewView;
  readonly segments: SegmentsView;
  readonly removed: RemovedView;
  readonly snowflake: SnowflakeView;
}

/**
 * Updates a store from server-sent events. While the page is visible, it reconnects one second after a connection ends,
 * hangs or is refused: EventSource itself stops retrying after an error status and does not detect silence. Hidden
 * pages close their connection, because browsers limit the connections to a server.
 */
export class MonitorStream {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: MonitorStore) {}

  start(): void {
    document.addEventListener('visibilitychange', () => {
      this.close();
      if (!document.hidden) this.open();
    });
    if (!document.hidden) this.open();
  }

  private open(): void {
    const source = new EventSource(STREAM);
    this.source = source;
    this.watch(SILENCE_MS);
    const on = <Name extends keyof Events>(event: Name, take: (view: Events[Name]) => void): void => {
      source.addEventListener(event, ({ data }: MessageEvent<string>) => {
        this.watch(SILENCE_MS);
        take(JSON.parse(data) as Events[Name]);
      });
    };
    source.addEventListener('open', () => this.store.connected());
    source.addEventListener('error', () => this.retry());
    on('overview', (view) => this.store.takeOverview(view));
    on('segments', (view) => this.store.takeSegments(view));
    on('removed', (view) => this.store.takeRemoved(view));
    on('snowflake', (view) => this.store.takeSnowflake(view));
  }

  private close(): void {
    clearTimeout(this.timer);
    this.source?.close();
  }

  private retry(): void {
    this.close();
    this.store.lost();
    this.timer = setTimeout(() => this.open(), RETRY_MS);
  }

  private watch(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.retry(), ms);
  }
}
