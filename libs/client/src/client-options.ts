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
  type StepLog,
  stepLogRule,
  tagRule,
  that,
  textOr,
  whole,
  assertOptions,
  type Fault,
  refuseFaults,
  withDefaults,
} from '@leaf-ids/core/internal';
import { type ClientToken, tokenRule } from './http/http-connection';
import type { LoadEvents, PrefetchOptions } from './prefetch/prefetch-context';
import type { SnowflakePrefetchOptions } from './prefetch/snowflake-buffer';
import type { EjectionOptions } from './servers/server-health';
import {
  MODE_RULE,
  type SnowflakeWindowOptions,
  WINDOW_RULES,
  type WindowEvents,
  type ResolvedWindow,
  resolveWindow,
} from './window/window-options';

export interface LeafServerAddress {
  /** Base URL of the routes: `http://10.0.0.5:8080`, or `https://ids.example.org/leaf` behind a proxy. */
  readonly url: string;
  readonly zone?: string;
}

export interface SnowflakeFetchOptions extends Partial<SnowflakePrefetchOptions> {
  readonly mode?: 'fetch';
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
  /**
   * Prefetch of snowflake IDs; by default 100 to 10,000 IDs per request, to last 10 s, at most 60 s old. With the mode
   * `window`, the client issues them itself.
   */
  readonly snowflake?: SnowflakeFetchOptions | SnowflakeWindowOptions;
  /** When to eject a failing server; by default after 2 failures in a row, for 250 ms up to 10 s. */
  readonly ejection?: Partial<EjectionOptions>;
  /** The IDs that `ready()` prefetches; none by default. */
  readonly preload?: { readonly tags?: readonly string[]; readonly snowflake?: boolean };
  /**
   * The bit layout of the servers, used by `decode`; the default layout by default. With windows, the layout of the
   * servers is used, and must be this one if it is given.
   */
  readonly layout?: BitLayoutOptions;
  /** Token for servers with `LEAF_CLIENT_TOKENS`; none by default. A function is called for each request. */
  readonly token?: ClientToken;
  readonly events?: Partial<LeafClientEvents>;
  /** Records what this process does with its worker window, for tests. */
  readonly stepLog?: StepLog;
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

const serverUrl = both(
  rule('an http or https URL', (value) => /^https?:$/.test(urlOf(value)?.protocol ?? '')),
  (value, path) => {
    const { host, username, password, search, hash } = new URL(String(value));
    if (username + password + search + hash === '') return [];
    return [{ path, fault: `(${host}) must have no user, password, query or fragment` }];
  },
);

const SERVER: Rules<LeafServerAddress> = { url: required(serverUrl), zone: anyText };

function prefetchRules(most: number): Rules<PrefetchOptions> {
  return { minSize: whole(1, most), maxSize: whole(1, most), durationMs: milliseconds(1) };
}

const FETCH_RULES: Rules<SnowflakeFetchOptions> = {
  mode: MODE_RULE,
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
  onWindowAcquired: callback,
  onWindowLost: callback,
  onWindowFailed: callback,
};

type Servers = LeafClientOptions['servers'];

const CLIENT_RULES: Rules<LeafClientOptions> = {
  servers: required(
    both(
      list(textOr(serverUrl, object(SERVER))),
      both(
        that('must contain at least one server', ({ length }: Servers) => length > 0),
        that(
          'must contain each server only once',
          (servers: Servers) => new Set(servers.map(hrefOf)).size === servers.length,
        ),
      ),
    ),
  ),
  zone: anyText,
  timeoutMs: milliseconds(1),
  requestTimeoutMs: milliseconds(1),
  maxRequests: whole(1, 10_000),
  maxWaiting: whole(1, 1_000_000),
  prefetch: flag,
  segment: object(prefetchRules(MAX_RANGE_SIZE)),
  snowflake: (value, path) => object(isWindow(value) ? WINDOW_RULES : FETCH_RULES)(value, path),
  ejection: object(EJECTION),
  preload: object(PRELOAD),
  layout: layoutRule,
  token: tokenRule,
  events: object(EVENTS),
  stepLog: stepLogRule,
};

/** Whether the option `snowflake` has the mode `window`. */
function isWindow(value: unknown): value is SnowflakeWindowOptions {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'mode') === 'window';
}

function urlOf(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}

function hrefOf(server: Servers[number]): string {
  return new URL(typeof server === 'string' ? server : server.url).href;
}

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

interface ResolvedAddress {
  readonly url: URL;
  readonly zone: string | undefined;
}

export interface ResolvedOptions {
  readonly servers: readonly ResolvedAddress[];
  readonly timeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly maxRequests: number;
  readonly maxWaiting: number;
  readonly prefetch: boolean;
  readonly segment: PrefetchOptions;
  readonly snowflake: SnowflakePrefetchOptions;
  /** Options of the mode `window` of snowflake IDs. */
  readonly window: ResolvedWindow | undefined;
  readonly ejection: EjectionOptions;
  readonly preload: { readonly tags: readonly string[]; readonly snowflake: boolean };
  readonly token: ClientToken | undefined;
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults */
export function resolveOptions(options: LeafClientOptions): ResolvedOptions {
  assertOptions('LeafClient', object(CLIENT_RULES), options);
  const { segment, snowflake, ejection, ...defaults } = DEFAULT_CLIENT_OPTIONS;
  const { servers, timeoutMs, requestTimeoutMs, maxRequests, maxWaiting, prefetch, preload, token } = withDefaults(
    defaults,
    options,
  );
  const [fetch, window] = isWindow(options.snowflake) ? [{}, options.snowflake] : [options.snowflake ?? {}, undefined];
  const resolved = {
    servers: servers.map((server) => {
      const { url, zone } = typeof server === 'string' ? { url: server, zone: undefined } : server;
      return { url: new URL(url), zone };
    }),
    ...{ timeoutMs, requestTimeoutMs, maxRequests, maxWaiting, prefetch, token },
    segment: withDefaults(segment, options.segment ?? {}),
    snowflake: withDefaults(snowflake, fetch),
    window: window && resolveWindow(window),
    ejection: withDefaults(ejection, options.ejection ?? {}),
    preload: { tags: preload?.tags ?? [], snowflake: preload?.snowflake ?? false },
  };
  const isPreloaded = (resolved.preload.snowflake && window === undefined) || resolved.preload.tags.length > 0;
  refuseFaults('LeafClient', [
    ...(isPreloaded && !prefetch ? [{ path: 'preload', fault: 'requires prefetch' }] : []),
    ...atLeast('segment', resolved.segment, 'maxSize', 'minSize'),
    ...atLeast('snowflake', resolved.snowflake, 'maxSize', 'minSize'),
    ...atLeast('ejection', resolved.ejection, 'maxMs', 'firstMs'),
  ]);
  return resolved;
}

function atLeast<Name extends string>(
  part: string,
  values: Readonly<Record<Name, number>>,
  larger: Name,
  smaller: Name,
): Fault[] {
  if (values[larger] >= values[smaller]) return [];
  const fault = `(${values[larger]}) must not be less than ${part}.${smaller} (${values[smaller]})`;
  return [{ path: `${part}.${larger}`, fault }];
}
