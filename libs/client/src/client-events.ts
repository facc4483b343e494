import type { LoadEvents } from './prefetch/prefetch-context';

/** What an application may be told, for its log and metrics. What a listener throws is ignored. */
export interface LeafClientEvents extends LoadEvents {
  /** A server failed and is not asked for a while. */
  readonly onServerEjected: (url: string, error: unknown, forMs: number) => void;
  readonly onServerReadmitted: (url: string) => void;
}

/** The listeners that there are, made harmless. */
export function safeEvents(events: Partial<LeafClientEvents>): LeafClientEvents {
  return {
    onServerEjected: harmless(events.onServerEjected),
    onServerReadmitted: harmless(events.onServerReadmitted),
    onLoad: harmless(events.onLoad),
    onLoadFailed: harmless(events.onLoadFailed),
    onExpired: harmless(events.onExpired),
  };
}

function harmless<A extends unknown[]>(listener: ((...args: A) => void) | undefined): (...args: A) => void {
  return (...args) => {
    try {
      listener?.(...args);
    } catch {
      // IDs must not fail because of a log line.
    }
  };
}
