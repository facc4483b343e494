import type { IncomingMessage } from 'node:http';
import { Logger } from '@nestjs/common';
import { FakeClock } from '@leaf-ids/core/testing';
import { Leaf } from '@leaf-ids/id';
import { IdQuota } from '../clients/client-access';
import { Drain } from '../lifecycle/drain';
import { FastPath, headersOf, type IdCall } from './fast-path';
import type { JsonIds } from './java-requests';
import { OverloadCounts } from './overload/refusals';
import { RequestCounts } from './request-counts';

const SEGMENT = '/api/segment';
const SNOWFLAKE = '/api/snowflake';
const TOKEN = 'Bearer client-token-0123456789';
const MAX_IN_FLIGHT = 2;

let leaf: Leaf;
let overload: OverloadCounts;
let fastPath: FastPath;
/** What the quotas were asked for. */
let charged: unknown[];
/** Undefined: the client is refused. */
let quota: IdQuota | undefined;

beforeAll(async () => {
  Logger.overrideLogger(false);
  const tags = [
    { tag: 'order', step: 1_000_000 },
    { tag: 'strict', step: 1, order: 'strict' as const },
  ];
  leaf = await Leaf.start({ database: 'sqlite::memory:', tags, snowflake: {} });
});
afterAll(() => leaf.stop());

function pathOf(jsonIds: JsonIds = 'number'): FastPath {
  const clock = new FakeClock();
  overload = new OverloadCounts();
  quota = new IdQuota(Infinity, clock);
  return new FastPath(new RequestCounts(clock), new Drain(clock, 0), jsonIds, clock, overload, MAX_IN_FLIGHT);
}

function serve(path: FastPath): void {
  path.serve(leaf.ids, {
    tryCharge: (...asked) => {
      charged.push(asked);
      return quota;
    },
  });
}

beforeEach(async () => {
  charged = [];
  fastPath = pathOf();
  serve(fastPath);
  // From now on there are IDs in memory.
  await leaf.ids.nextId('order');
});

const callOf = (url: string): IdCall => fastPath.callOf(url)!;
const nextOf = async (tag: string): Promise<bigint> => (await leaf.ids.nextId(tag)) - 1n;

/** The IDs of a response. */
function idsOf(text: string): bigint[] {
  if (!text.startsWith('{')) return [BigInt(text)];
  const { ids, ranges = [] } = JSON.parse(text) as { ids?: string[]; ranges?: { from: string; to: string }[] };
  const size = ({ from, to }: { from: string; to: string }): number => Number(BigInt(to) - BigInt(from)) + 1;
  return (
    ids?.map(BigInt) ??
    ranges.flatMap((range) => Array.from({ length: size(range) }, (_, n) => BigInt(range.from) + BigInt(n)))
  );
}

describe('IDs in memory', () => {
  it.each([
    [SEGMENT, 'batch', { tag: 'order' }],
    [SNOWFLAKE, 'batch', { key: 'order' }],
    [SEGMENT, 'range', { tag: 'order' }],
    [SEGMENT, 'get', undefined],
    [SNOWFLAKE, 'get', undefined],
  ])('of %s/%s are given once, each of them at the expense of the quota', (api, route, head) => {
    const size = head === undefined ? 1 : 3;
    const call = callOf(`${api}/${route}/order${head === undefined ? '' : '?size=3'}`);
    const texts = [1, 2, 3].map(() => fastPath.tryTake(call, TOKEN, false)!);
    expect(charged).toEqual([1, 2, 3].map(() => [TOKEN, 'order', size]));
    const ids = texts.flatMap(idsOf);
    expect(new Set(ids).size).toBe(3 * size);
    expect([...ids].sort((a, b) => (a < b ? -1 : 1))).toEqual(ids);
    if (head !== undefined) expect(JSON.parse(texts[0]!)).toMatchObject(head);
    expect(texts[0]).not.toContain('strict');
  });

  it('are not taken for a client that is refused', async () => {
    const before = await nextOf('order');
    quota = undefined;
    for (const url of [`${SEGMENT}/get/order`, `${SEGMENT}/batch/order?size=2`, `${SEGMENT}/range/order?size=2`]) {
      expect(fastPath.tryTake(callOf(url), TOKEN, false)).toBeUndefined();
    }
    expect([charged.length, await nextOf('order')]).toEqual([3, before + 1n]);
  });

  it('have the form of the settings in JSON', () => {
    for (const [form, jsonIds] of [
      [/^\d+$/, 'number'],
      [/^"\d+"$/, 'string'],
    ] as const) {
      fastPath = pathOf(jsonIds);
      serve(fastPath);
      expect(fastPath.tryTake(callOf(`${SEGMENT}/get/order`), undefined, true)).toMatch(form);
      expect(fastPath.tryTake(callOf(`${SNOWFLAKE}/get/order`), undefined, false)).toMatch(/^\d+$/);
    }
  });
});

describe('IDs that have to wait', () => {
  it('of a strict tag are given once, in their order, at the expense of the quota', async () => {
    const urls = ['get/strict', 'batch/strict?size=3', 'range/strict?size=3'];
    const calls = urls.map((url) => callOf(`${SEGMENT}/${url}`));
    const texts: string[] = [];
    for (const call of calls) {
      expect(fastPath.tryTake(call, TOKEN, false)).toBeUndefined();
      texts.push(await fastPath.take(call, TOKEN, false)!);
    }
    const [first = 0n, ...ids] = texts.flatMap(idsOf);
    expect(ids).toEqual([1n, 2n, 3n, 4n, 5n, 6n].map((n) => first + n));
    expect(JSON.parse(texts[2]!)).toMatchObject({ tag: 'strict', order: 'strict' });
    const twice = [1, 3, 3].flatMap((size) => [size, size]);
    expect(charged).toEqual(twice.map((size) => [TOKEN, 'strict', size]));
  });

  it('of snowflake mode are given once, at the expense of the quota', async () => {
    const [one, batch] = [callOf(`${SNOWFLAKE}/get/order`), callOf(`${SNOWFLAKE}/batch/order?size=3`)];
    const texts = await Promise.all([fastPath.take(one, TOKEN, false)!, fastPath.take(batch, TOKEN, false)!]);
    expect(new Set(texts.flatMap(idsOf)).size).toBe(4);
    expect(JSON.parse(texts[1])).toMatchObject({ key: 'order' });
    expect(charged).toEqual([1, 3].map((size) => [TOKEN, 'order', size]));
  });

  it('have the form of the settings in JSON', async () => {
    fastPath = pathOf('string');
    serve(fastPath);
    const call = callOf(`${SEGMENT}/get/strict`);
    expect(await fastPath.take(call, undefined, true)).toMatch(/^"\d+"$/);
    expect(await fastPath.take(call, undefined, false)).toMatch(/^\d+$/);
  });

  it('are not taken for a client that is refused', async () => {
    const before = await nextOf('strict');
    quota = undefined;
    expect(fastPath.take(callOf(`${SEGMENT}/get/strict`), TOKEN, false)).toBeUndefined();
    expect([charged.length, await nextOf('strict')]).toEqual([1, before + 1n]);
  });

  it('of a tag that is not strict, or of no key, are left to the ordinary route without a charge', () => {
    for (const url of [`${SEGMENT}/get/order`, `${SEGMENT}/range/order?size=2`, `${SNOWFLAKE}/get/..`]) {
      expect(fastPath.take(callOf(url), TOKEN, false)).toBeUndefined();
    }
    expect(charged).toStrictEqual([]);
  });

  it('are left to the ordinary route without a charge while too many requests wait', async () => {
    const call = callOf(`${SEGMENT}/get/strict`);
    const waiting = [1, 2].map(() => fastPath.take(call, TOKEN, false)!);
    expect([overload.inFlight, fastPath.take(call, TOKEN, false), charged.length]).toEqual([2, undefined, 2]);
    await Promise.all(waiting);
    expect(overload.inFlight).toBe(0);
    await fastPath.take(call, TOKEN, false);
    expect(charged).toHaveLength(3);
  });
});

describe('A request', () => {
  it('is left to the ordinary routes before the server has IDs', () => {
    fastPath = pathOf();
    for (const url of [`${SEGMENT}/get/order`, `${SEGMENT}/get/strict`]) {
      expect(fastPath.tryTake(callOf(url), TOKEN, false)).toBeUndefined();
      expect(fastPath.take(callOf(url), TOKEN, false)).toBeUndefined();
    }
  });

  it.each([
    [`${SEGMENT}/batch/order`, 250],
    [`${SNOWFLAKE}/batch/order`, 250],
    [`${SEGMENT}/range/order`, 1_000_000],
  ])('%s has up to %d IDs', (path, most) => {
    for (const size of [1, most])
      expect(fastPath.callOf(`${path}?size=${size}`)).toMatchObject({ name: 'order', size });
    for (const size of [0, most + 1, 10_000_000, -1, '1x', 'x1']) {
      expect(fastPath.callOf(`${path}?size=${size}`)).toBeUndefined();
    }
  });

  it('keeps its nonce, and without one has none', () => {
    const nonceOf = (query: string): string | undefined =>
      fastPath.callOf(`${SEGMENT}/range/order?size=2${query}`)?.nonce;
    const longest = 'x'.repeat(64);
    expect([nonceOf(''), nonceOf('&nonce=a_B-9'), nonceOf(`&nonce=${longest}`)]).toEqual(['none', 'a_B-9', longest]);
    expect([nonceOf('&nonce='), nonceOf(`&nonce=${longest}x`), nonceOf('&nonce=a%20')]).toEqual(
      Array(3).fill(undefined),
    );
    const headers = headersOf(callOf(`${SEGMENT}/range/order?size=2&nonce=a`), false);
    expect(headers.slice(-2)).toEqual(['leaf-nonce', 'a']);
    expect(callOf(`${SEGMENT}/get/order`).nonce).toBe('none');
  });

  it.each(['/api/tags', `x${SEGMENT}/get/order`, `${SEGMENT}/decode/1`, '/api/segment/get'])(
    'for %s is none for IDs',
    (url) => {
      expect(fastPath.callOf(url)).toBeUndefined();
    },
  );

  it('is answered with its own refusal', () => {
    const [one, other, refusal] = [{} as IncomingMessage, {} as IncomingMessage, new Error('refused')];
    fastPath.refuse(one, refusal);
    expect([fastPath.refusalOf(one), fastPath.refusalOf(other)]).toEqual([refusal, undefined]);
  });
});
