import { type BitLayoutOptions, DEFAULT_LAYOUT, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf-ids/core';
import {
  anyText,
  both,
  callback,
  flag,
  layoutRule,
  list,
  milliseconds,
  object,
  required,
  rule,
  type Rules,
  tagRule,
  textOr,
  whole,
} from '@leaf-ids/core/internal';
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
  /** Whether to fetch IDs ahead; true by default. False: each call sends one request for the IDs that it returns. */
  readonly prefetch?: boolean;
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
  prefetch: true,
  segment: { minSize: 100, maxSize: 1_000_000, durationMs: 10_000 },
  snowflake: { minSize: 100, maxSize: 10_000, durationMs: 10_000, maxAgeMs: 60_000 },
  ejection: { failures: 2, firstMs: 250, maxMs: 10_000 },
  layout: DEFAULT_LAYOUT,
};

/** Bearer tokens of RFC 6750. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

const serverUrl = both(
  rule('an http or https URL', (value) => /^https?:$/.test(urlOf(value)?.protocol ?? '')),
  (value, name) => {
    const { host, username, password, search, hash } = new URL(String(value));
    if (username + password + search + hash === '') return [];
    return [`${name}: the URL of ${host} must have no user, password, query or fragment`];
  },
);

const SERVER: Rules<LeafServerAddress> = { url: required(serverUrl), zone: anyText };

function prefetchRules(most: number): Rules<PrefetchOptions> {
  return { minSize: whole(1, most), maxSize: whole(1, most), durationMs: milliseconds(1) };
}

const SNOWFLAKE: Rules<SnowflakePrefetchOptions> = {
  ...prefetchRules(MAX_BATCH_SIZE),
  maxAgeMs: (value, name) => (value === Infinity ? [] : milliseconds(100)(value, name)),
};

const EJECTION: Rules<EjectionOptions> = {
  failures: whole(1, 1000),
  firstMs: milliseconds(1),
  maxMs: milliseconds(1),
};

const PRELOAD: Rules<NonNullable<LeafClientOptions['preload']>> = { tags: list(tagRule), snowflake: flag };

const EVENTS: Rules<LeafClientEvents> = {
  onLoad: callback,
  onLoadFailed: callback,
  onExpired: callback,
  onServerEjected: callback,
  onServerReadmitted: callback,
};

export const CLIENT_RULES: Rules<LeafClientOptions> = {
  servers: required(
    both(list(textOr(serverUrl, object(SERVER))), (value, name) =>
      serverFaults(value as LeafClientOptions['servers'], name),
    ),
  ),
  zone: anyText,
  timeoutMs: milliseconds(1),
  requestTimeoutMs: milliseconds(1),
  maxRequests: whole(1, 10_000),
  maxWaiting: whole(1, 1_000_000),
  prefetch: flag,
  segment: object(prefetchRules(MAX_RANGE_SIZE)),
  snowflake: object(SNOWFLAKE),
  ejection: object(EJECTION),
  preload: object(PRELOAD),
  layout: layoutRule,
  token: textOr(
    (value, name) => (TOKEN.test(String(value)) ? [] : [`${name} contains characters that a header cannot carry`]),
    rule('a string or a function', (value) => typeof value === 'function'),
  ),
  events: object(EVENTS),
};

function urlOf(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}

function serverFaults(servers: LeafClientOptions['servers'], name: string): string[] {
  if (servers.length === 0) return [`${name} must contain at least one server`];
  const urls = servers.map((server) => new URL(typeof server === 'string' ? server : server.url).href);
  return new Set(urls).size === urls.length ? [] : [`${name} must contain each server only once`];
}
