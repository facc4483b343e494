import type { MonitorStore } from './monitor-store';
import type { OverviewView, RemovedView, SegmentsView, SnowflakeView } from './views';

const STREAM = 'api/monitor/stream';
/** The server speaks once a second; this long without a word means that nobody is there. */
const SILENCE_MS = 4000;
const RETRY_MS = 1000;

interface Events {
  readonly overview: OverviewView;
  readonly segments: SegmentsView;
  readonly removed: RemovedView;
  readonly snowflake: SnowflakeView;
}

/**
 * Keeps a store up to date by server-sent events. A connection that ends, hangs or is refused is made anew, once a
 * second, for as long as the page is seen: the browser's own retry gives up on an error status and never sees silence.
 * A page in the background lets go of its connection: a browser has few of them for one server.
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
