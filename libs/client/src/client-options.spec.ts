import { hostname } from 'node:os';
import { DEFAULT_LAYOUT, LeafError } from '@leaf-ids/core';
import { DEFAULT_CLIENT_OPTIONS, type LeafClientOptions, resolveOptions } from './client-options';

function faultsOf(options: LeafClientOptions): string {
  try {
    resolveOptions(options);
  } catch (error) {
    if (error instanceof LeafError && error.code === 'LEAF_CONFIG_INVALID') return error.message;
  }
  throw new Error('not refused');
}

const servers = ['http://10.0.0.5:8080'];

describe('resolveOptions', () => {
  it('has a default for every option except the servers', () => {
    const { layout, ...defaults } = DEFAULT_CLIENT_OPTIONS;
    expect(layout).toBe(DEFAULT_LAYOUT);
    expect(resolveOptions({ servers })).toEqual({
      ...defaults,
      servers: [{ url: new URL('http://10.0.0.5:8080'), zone: undefined }],
      preload: { tags: [], snowflake: false },
    });
  });

  it('merges given options with the defaults', () => {
    const resolved = resolveOptions({
      servers: [{ url: 'https://ids.example.org/leaf/', zone: 'a' }],
      segment: { maxSize: 5000 },
      snowflake: { maxAgeMs: Infinity },
      ejection: { failures: 5 },
      preload: { tags: ['order'] },
    });
    expect(resolved).toMatchObject({
      servers: [{ zone: 'a' }],
      segment: { minSize: 100, maxSize: 5000, durationMs: 10_000 },
      snowflake: { maxSize: 10_000, maxAgeMs: Infinity },
      ejection: { failures: 5, firstMs: 250 },
      preload: { tags: ['order'], snowflake: false },
    });
  });

  it('has defaults for a window, and keeps those of the fetching', () => {
    const resolved = resolveOptions({ servers, snowflake: { mode: 'window', token: 'a' } });
    expect(resolved.window).toEqual({ mode: 'window', token: 'a', holder: hostname(), windowMs: 60_000 });
    const named = resolveOptions({ servers, snowflake: { mode: 'window', holder: 'billing', windowMs: 10_000 } });
    expect(named.window).toEqual({ mode: 'window', holder: 'billing', windowMs: 10_000 });
    expect(resolved.snowflake).toEqual(DEFAULT_CLIENT_OPTIONS.snowflake);
    expect(resolveOptions({ servers, snowflake: { mode: 'fetch' } }).window).toBeUndefined();
  });

  it.each<[RegExp, LeafClientOptions]>([
    [/servers must contain at least one server/, { servers: [] }],
    [/servers\[0\] must be an http or https URL, not "10.0.0.5:8080"/, { servers: ['10.0.0.5:8080'] }],
    [/servers\[0\] must be an http or https URL, not "ftp:/, { servers: ['ftp://a'] }],
    [/must have no user, password/, { servers: ['http://me:secret@a'] }],
    [/must have no user, password, query/, { servers: ['http://a/?x=1'] }],
    [/servers must contain each server only once/, { servers: ['http://a', { url: 'http://a/' }] }],
    [/timeoutMs .* not 0/, { servers, timeoutMs: 0 }],
    [/requestTimeoutMs .* not 1.5/, { servers, requestTimeoutMs: 1.5 }],
    [/maxRequests .* not -1/, { servers, maxRequests: -1 }],
    [/maxWaiting .* not NaN/, { servers, maxWaiting: NaN }],
    [/segment.minSize .* not 0/, { servers, segment: { minSize: 0 } }],
    [/prefetch must be true or false/, { servers, prefetch: 'no' as unknown as boolean }],
    [/preload requires prefetch/, { servers, prefetch: false, preload: { tags: ['order'] } }],
    [
      /segment.maxSize \(499\) must not be less than segment.minSize \(500\)/,
      { servers, segment: { minSize: 500, maxSize: 499 } },
    ],
    [/segment.maxSize .* to 1000000, not 1000001/, { servers, segment: { maxSize: 1_000_001 } }],
    [/segment.durationMs .* not Infinity/, { servers, segment: { durationMs: Infinity } }],
    [/snowflake.maxSize .* to 10000, not 10001/, { servers, snowflake: { maxSize: 10_001 } }],
    [/snowflake.maxAgeMs .* not 99/, { servers, snowflake: { maxAgeMs: 99 } }],
    [/snowflake.mode must be "fetch" or "window"/, { servers, snowflake: { mode: 'x' as 'fetch' } }],
    [
      /snowflake.windowMs .* from 10000 to 86400000, not 9999/,
      { servers, snowflake: { mode: 'window', windowMs: 9999 } },
    ],
    [/snowflake.holder must be 1 to 127 printable/, { servers, snowflake: { mode: 'window', holder: 'a\n' } }],
    [/snowflake.holder must be 1 to 127 printable/, { servers, snowflake: { mode: 'window', holder: 5 as never } }],
    [/snowflake.token contains characters/, { servers, snowflake: { mode: 'window', token: 'a b' } }],
    [/snowflake.minSize is not an option/, { servers, snowflake: { mode: 'window', minSize: 1 } as never }],
    [/snowflake.windowMs is not an option/, { servers, snowflake: { windowMs: 60_000 } as never }],
    [/ejection.failures .* not 0/, { servers, ejection: { failures: 0 } }],
    [/ejection.maxMs \(249\) must not be less than ejection.firstMs \(250\)/, { servers, ejection: { maxMs: 249 } }],
    [/preload.tags\[0\] cannot be used: "a b" is not a valid tag/, { servers, preload: { tags: ['a b'] } }],
  ])('says %s', (expected, options) => {
    expect(faultsOf(options)).toMatch(expected);
  });

  it('lists all faults in one error, without secrets', () => {
    const message = faultsOf({ servers: ['http://me:secret@a'], timeoutMs: -1 });
    expect(message).toMatch(/user, password.*timeoutMs/s);
    expect(message).not.toMatch(/secret/);
  });
});
