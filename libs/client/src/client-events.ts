import type { LoadEvents } from './prefetch/prefetch-context';
import type { WindowEvents } from './window/window-options';

/** Events for the log and the metrics of an application. Errors that a listener throws are ignored. */
export interface LeafClientEvents extends LoadEvents, WindowEvents {
  /** A server failed, and gets no requests for `forMs`. */
  readonly onServerEjected: (url: string, error: unknown, forMs: number) => void;
  readonly onServerReadmitted: (url: string) => void;
}

/** Wraps the listeners so that none of them throws. */
export function safeEvents(events: Partial<LeafClientEvents>): LeafClientEvents {
  return {
    onServerEjected: harmless(events.onServerEjected),
    onServerReadmitted: harmless(events.onServerReadmitted),
    onLoad: harmless(events.onLoad),
    onLoadFailed: harmless(events.onLoadFailed),
    onExpired: harmless(events.onExpired),
    onWindowAcquired: harmless(events.onWindowAcquired),
    onWindowLost: harmless(events.onWindowLost),
    onWindowFailed: harmless(events.onWindowFailed),
  };
}

function harmless<A extends unknown[]>(listener: ((...args: A) => void) | undefined): (...args: A) => void {
  return (...args) => {
    try {
      listener?.(...args);
    } catch {
      // A failing listener must not fail a call.
    }
  };
}
