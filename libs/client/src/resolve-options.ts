import { assertOptions, type Fault, object, refuseFaults, withDefaults } from '@leaf-ids/core/internal';
import { CLIENT_RULES, DEFAULT_CLIENT_OPTIONS, isWindow, type LeafClientOptions } from './client-options';
import type { ClientToken } from './http/http-connection';
import type { PrefetchOptions } from './prefetch/prefetch-context';
import type { SnowflakePrefetchOptions } from './prefetch/snowflake-buffer';
import type { EjectionOptions } from './servers/server-health';
import { type ResolvedWindow, resolveWindow } from './window/window-options';

export interface ResolvedAddress {
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
