import { type Clock, LeafError, type RandomSource } from '@leaf-ids/core';
import type { Requester } from '../http/requester';

/** Limits the number of waiting callers over all buffers. */
export class CallerLimit {
  waiting = 0;

  constructor(private readonly places: number) {}

  /** @throws LeafError `LEAF_OVERLOADED` at the limit */
  enter(): void {
    if (this.waiting >= this.places) {
      throw new LeafError(
        'LEAF_OVERLOADED',
        `${this.places} callers are already waiting for IDs in this client. Retry later, or raise maxWaiting.`,
        { retryAfterMs: 1000 },
      );
    }
    this.waiting++;
  }

  leave(): void {
    this.waiting--;
  }
}

export interface PrefetchOptions {
  /** Minimum number of IDs per request, and the size of the first two requests. */
  readonly minSize: number;
  /** Maximum number of IDs per prefetch request. */
  readonly maxSize: number;
  /** How long the IDs of one request should last, in milliseconds; the size of the requests adapts to it. */
  readonly durationMs: number;
}

export interface LoadEvents {
  /** A load has finished. `what` is a tag or `snowflake`. */
  readonly onLoad: (what: string, count: number, ms: number) => void;
  /** A load failed: called for the first failure of a series and every 100th; the client retries by itself. */
  readonly onLoadFailed: (what: string, error: unknown) => void;
  /** Unused snowflake IDs were dropped because they exceeded their maximum age. */
  readonly onExpired: (count: number) => void;
}

/** The dependencies that the buffers of one client share. */
export interface PrefetchContext {
  readonly requester: Pick<Requester, 'get'>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly callerLimit: CallerLimit;
  /** Limit for the wait of a call, in milliseconds. */
  readonly timeoutMs: number;
  readonly closing: AbortSignal;
  readonly events: LoadEvents;
}
