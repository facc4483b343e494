import type { Clock, RandomSource } from '@leaf-ids/core';
import type { Requester } from '../http/requester';
import type { CallerLimit } from './caller-limit';

export interface PrefetchOptions {
  /** IDs of the first two requests; no later one asks for fewer. */
  readonly minSize: number;
  /** No request ahead asks for more. */
  readonly maxSize: number;
  /** How long the IDs of one request should last, in milliseconds; a request grows until they do. */
  readonly durationMs: number;
}

export interface LoadEvents {
  /** IDs have come ahead. `what` is a tag, or `snowflake`. */
  readonly onLoad: (what: string, count: number, ms: number) => void;
  /** They begin to fail to come, or still do; it is tried again by itself. */
  readonly onLoadFailed: (what: string, error: unknown) => void;
  /** Snowflake IDs became older than is allowed, unused. */
  readonly onExpired: (count: number) => void;
}

/** What the buffers of one client share. */
export interface PrefetchContext {
  readonly requester: Pick<Requester, 'get'>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly room: CallerLimit;
  /** How long a call may wait, in milliseconds. */
  readonly timeoutMs: number;
  readonly closing: AbortSignal;
  readonly events: LoadEvents;
}
