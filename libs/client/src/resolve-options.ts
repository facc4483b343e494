import { LeafError, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf-ids/core';
import { isTag } from '@leaf-ids/core/internal';
import { DEFAULT_CLIENT_OPTIONS, type LeafClientOptions } from './client-options';
import type { ClientToken } from './http/client-token';
import type { PrefetchOptions } from './prefetch/prefetch-context';
import type { SnowflakePrefetchOptions } from './prefetch/snowflake-buffer';
import type { EjectionOptions } from './servers/server-health';

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
  readonly segment: PrefetchOptions;
  readonly snowflake: SnowflakePrefetchOptions;
  readonly ejection: EjectionOptions;
  readonly preload: { readonly tags: readonly string[]; readonly snowflake: boolean };
  readonly token: ClientToken | undefined;
}

/** Bearer tokens of RFC 6750. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** The longest delay of a Node.js timer. */
const MAX_MS = 2 ** 31 - 1;

/** @throws LeafError `LEAF_CONFIG_INVALID` listing every fault */
export function resolveOptions(options: LeafClientOptions): ResolvedOptions {
  const faults: string[] = [];
  const defaults = DEFAULT_CLIENT_OPTIONS;
  const whole = (name: string, value: number, least: number, most: number): number => {
    if (!Number.isInteger(value) || value < least || value > most) {
      faults.push(`${name} must be a whole number from ${least} to ${most}, not ${value}`);
    }
    return value;
  };
  const prefetch = (name: string, given: PrefetchOptions, most: number): PrefetchOptions => ({
    minSize: whole(`${name}.minSize`, given.minSize, 1, most),
    maxSize: whole(`${name}.maxSize`, given.maxSize, Math.max(1, given.minSize), most),
    durationMs: whole(`${name}.durationMs`, given.durationMs, 1, MAX_MS),
  });
  const servers = options.servers.map((server) => {
    const { url, zone } = typeof server === 'string' ? { url: server, zone: undefined } : server;
    return { url: parseUrl(url, faults), zone };
  });
  if (servers.length === 0) faults.push('servers must contain at least one server');
  if (new Set(servers.map(({ url }) => url.href)).size < servers.length)
    faults.push('servers must contain each server only once');
  const tags = options.preload?.tags ?? [];
  for (const tag of tags) if (!isTag(tag)) faults.push(`preload.tags contains an invalid tag, ${JSON.stringify(tag)}`);
  const { token } = options;
  if (typeof token === 'string' && !TOKEN.test(token))
    faults.push('token contains characters that a header cannot carry');
  const snowflake = { ...defaults.snowflake, ...options.snowflake };
  const ejection = { ...defaults.ejection, ...options.ejection };
  if (snowflake.maxAgeMs !== Infinity) whole('snowflake.maxAgeMs', snowflake.maxAgeMs, 100, MAX_MS);
  const resolved = {
    servers,
    timeoutMs: whole('timeoutMs', options.timeoutMs ?? defaults.timeoutMs, 1, MAX_MS),
    requestTimeoutMs: whole('requestTimeoutMs', options.requestTimeoutMs ?? defaults.requestTimeoutMs, 1, MAX_MS),
    maxRequests: whole('maxRequests', options.maxRequests ?? defaults.maxRequests, 1, 10_000),
    maxWaiting: whole('maxWaiting', options.maxWaiting ?? defaults.maxWaiting, 1, 1_000_000),
    segment: prefetch('segment', { ...defaults.segment, ...options.segment }, MAX_RANGE_SIZE),
    snowflake: { ...prefetch('snowflake', snowflake, MAX_BATCH_SIZE), maxAgeMs: snowflake.maxAgeMs },
    ejection: {
      failures: whole('ejection.failures', ejection.failures, 1, 1000),
      firstMs: whole('ejection.firstMs', ejection.firstMs, 1, MAX_MS),
      maxMs: whole('ejection.maxMs', ejection.maxMs, Math.max(1, ejection.firstMs), MAX_MS),
    },
    preload: { tags, snowflake: options.preload?.snowflake ?? false },
    token,
  };
  if (faults.length > 0) {
    throw new LeafError('LEAF_CONFIG_INVALID', `Invalid options for the Leaf client: ${faults.join('; ')}.`);
  }
  return resolved;
}

const NONE = 'none:';

function parseUrl(text: string, faults: string[]): URL {
  const url = new URL(URL.canParse(text) ? text : NONE);
  if (!/^https?:$/.test(url.protocol)) faults.push(`${JSON.stringify(text)} is not an http or https URL`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    faults.push(`the URL of ${url.host} must have no user, password, query or fragment`);
  }
  return url;
}
