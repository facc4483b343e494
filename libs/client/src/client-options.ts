import { type BitLayoutOptions, DEFAULT_LAYOUT } from '@leaf-ids/core';
import type { LeafClientEvents } from './client-events';
import type { ClientToken } from './http/client-token';
import type { PrefetchOptions } from './prefetch/prefetch-context';
import type { SnowflakePrefetchOptions } from './prefetch/snowflake-buffer';
import type { EjectionOptions } from './servers/server-health';

export interface LeafServerAddress {
  /** Base URL of the routes: `http://10.0.0.5:8080`, or `https://ids.example.org/leaf` behind a proxy. */
  readonly url: string;
  readonly zone?: string;
}

export interface LeafClientOptions {
  /** One or more; a string is a server without a zone. */
  readonly servers: readonly (string | LeafServerAddress)[];
  /**
   * Zone of this application. Servers of the same zone are preferred; others are used only when none of them can serve.
   */
  readonly zone?: string;
  /** Limit for a call, in milliseconds; 5000 by default. */
  readonly timeoutMs?: number;
  /**
   * Limit for one request to one server, in milliseconds; 1500 by default. It must exceed the time that a server waits
   * for its database (1000 by default), or the refusal of the server arrives too late.
   */
  readonly requestTimeoutMs?: number;
  /** Maximum number of concurrent requests; 32 by default. */
  readonly maxRequests?: number;
  /** Maximum number of waiting calls; 10,000 by default. Further calls reject with `LEAF_OVERLOADED`. */
  readonly maxWaiting?: number;
  /** Prefetch of each tag; by default 100 to 1,000,000 IDs per request, to last 10 s. */
  readonly segment?: Partial<PrefetchOptions>;
  /** Prefetch of snowflake IDs; by default 100 to 10,000 IDs per request, to last 10 s, at most 60 s old. */
  readonly snowflake?: Partial<SnowflakePrefetchOptions>;
  /** When to eject a failing server; by default after 2 failures in a row, for 250 ms up to 10 s. */
  readonly ejection?: Partial<EjectionOptions>;
  /** The IDs that `ready()` prefetches; none by default. */
  readonly preload?: { readonly tags?: readonly string[]; readonly snowflake?: boolean };
  /** The bit layout of the servers, used by `decode`; the default layout by default. */
  readonly layout?: BitLayoutOptions;
  /** Token for servers with `LEAF_TAKER_TOKENS`; none by default. A function is called for each request. */
  readonly token?: ClientToken;
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
