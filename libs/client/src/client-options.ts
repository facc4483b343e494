import { type BitLayoutOptions, DEFAULT_LAYOUT } from '@leaf-ids/core';
import type { LeafClientEvents } from './client-events';
import type { PrefetchOptions } from './prefetch/prefetch-context';
import type { SnowflakePrefetchOptions } from './prefetch/snowflake-buffer';
import type { EjectionOptions } from './servers/server-health';

export interface LeafServerAddress {
  /** Where the routes begin: `http://10.0.0.5:8080`, or `https://ids.example.org/leaf` behind a proxy. */
  readonly url: string;
  readonly zone?: string;
}

/** What is left out has its default. */
export interface LeafClientOptions {
  /** One or more; a string is a server without a zone. */
  readonly servers: readonly (string | LeafServerAddress)[];
  /** Of this application. Servers of the same zone are asked, others only when none of them can serve. */
  readonly zone?: string;
  /** How long a call may take in all, in milliseconds; 5000 by default. */
  readonly timeoutMs?: number;
  /**
   * How long one request to one server may take, in milliseconds; 1500 by default. More than a server waits for its
   * database (1000 by default): else its refusal is not heard.
   */
  readonly requestTimeoutMs?: number;
  /** Requests under way at once; 32 by default. */
  readonly maxRequests?: number;
  /** Calls that wait at once; 10,000 by default. One more is refused with `LEAF_OVERLOADED`. */
  readonly maxWaiting?: number;
  /** How IDs of each tag are fetched ahead: 100 to 1,000,000 at once, to last 10 s, by default. */
  readonly segment?: Partial<PrefetchOptions>;
  /** How snowflake IDs are: 100 to 10,000 at once, to last 10 s and be no older than 60 s, by default. */
  readonly snowflake?: Partial<SnowflakePrefetchOptions>;
  /** When a failing server is left alone: after 2 failures in a row, for 250 ms up to 10 s, by default. */
  readonly ejection?: Partial<EjectionOptions>;
  /** What `ready()` fetches ahead of the first call; nothing by default. */
  readonly preload?: { readonly tags?: readonly string[]; readonly snowflake?: boolean };
  /** The bit layout of the servers, for `decode`; the default one by default. */
  readonly layout?: BitLayoutOptions;
  readonly events?: Partial<LeafClientEvents>;
}

export const DEFAULT_CLIENT_OPTIONS = {
  timeoutMs: 5000,
  requestTimeoutMs: 1500,
  maxRequests: 32,
  maxWaiting: 10_000,
  segment: { minSize: 100, maxSize: 1_000_000, durationMs: 10_000 },
  snowflake: { minSize: 100, maxSize: 10_000, durationMs: 10_000, maxAgeMs: 60_000 },
  ejection: { failures: 2, firstMs: 250, maxMs: 10_000 },
  layout: DEFAULT_LAYOUT,
};
