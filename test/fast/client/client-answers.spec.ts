import { gzipSync } from 'node:zlib';
import { messageOf } from '@leaf-ids/core/internal';
import { LeafClient } from '@leaf-ids/client';
import { FakeLeaf, type FakeAnswer, problem, send } from '../../support/fakes/fake-leaf';
import { until } from '../../support/until';

interface Sound {
  readonly ranges: { from: string; to: string }[];
}

const asRanges = (ranges: unknown): FakeAnswer => {
  return (response, _, { name }) => send(response, 200, { tag: name, ranges });
};

describe('a wrong answer is refused, and another server asked', () => {
  let bad: FakeLeaf;
  let good: FakeLeaf;
  let client: LeafClient;

  beforeEach(async () => {
    bad = await FakeLeaf.start(1n);
    good = await FakeLeaf.start(1_000_000n);
    client = new LeafClient({ servers: [{ url: bad.url, zone: 'z' }, good.url], zone: 'z', requestTimeoutMs: 5000 });
  });
  afterEach(async () => {
    await client.close();
    await Promise.all([bad.stop(), good.stop()]);
  });

  it.each<[string, FakeAnswer]>([
    ['fewer IDs than asked for', asRanges([{ from: '1', to: '99' }])],
    ['more IDs than asked for', asRanges([{ from: '1', to: '101' }])],
    ['ranges that overlap', asRanges([{ from: '1', to: '50' }, { from: '50', to: '99' }])], // prettier-ignore
    ['a number above 2^63', asRanges([{ from: '9223372036854775800', to: '9223372036854775899' }])],
    ['numbers in place of strings', asRanges([{ from: 1, to: 100 }])],
    ['another tag', (response, sound) => send(response, 200, { ...(sound as Sound), tag: 'another' })],
    ['a body that is no JSON', (response) => send(response, 200, 'IDs: 1 to 100')],
    ['an empty body', (response) => send(response, 200, '')],
    ['half of a body', (response, sound) => send(response, 200, JSON.stringify(sound).slice(0, 20))],
    ['204', (response) => send(response, 204, '')],
    ['a proxy in despair', (response) => send(response, 502, '<h1>Bad gateway</h1>', { 'content-type': 'text/html' })],
    ['an internal fault', (response) => problem(response, 500, 'LEAF_INTERNAL')],
    ['a redirect', (response, _, { path }) => send(response, 302, '', { location: good.url.slice(0, -1) + path })],
    ['a route that there is not', (response) => problem(response, 404, 'LEAF_NOT_FOUND')],
    ['too large a body', (response, sound) => send(response, 200, JSON.stringify(sound) + ' '.repeat(1_100_000))],
    [
      'a body that nobody asked to be packed',
      (response, sound) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(JSON.stringify(sound)));
      },
    ],
    [
      'a connection cut within the body',
      (response, sound) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write(JSON.stringify(sound), () => response.destroy());
      },
    ],
    ['a connection cut before the answer', (response) => void response.destroy()],
  ])('%s', async (_, answer) => {
    bad.answer = answer;
    expect(await client.nextId('order')).toBe(1_000_000n);
    expect(bad.requests).toHaveLength(1);
    expect(client.snapshot().tags[0]).toMatchObject({ buffered: 99, failures: 0 });
  });

  it('the same answer twice, from a cache', async () => {
    let cached: unknown;
    bad.answer = (response, sound) => send(response, 200, (cached ??= sound));
    const ids = await Promise.all(Array.from({ length: 100 }, () => client.nextId('order')));
    ids.push(...(await Promise.all(Array.from({ length: 100 }, () => client.nextId('order')))));
    expect(new Set(ids).size).toBe(200);
    expect(client.snapshot().servers[0]?.lastError).toMatch(/repeated IDs of tag "order"/);
  });

  it.each<[string, (ids: string[]) => unknown]>([
    ['descending', (ids) => ids.reverse()],
    ['with one twice', (ids) => [ids[0], ...ids.slice(0, -1)]],
    ['too few', (ids) => ids.slice(1)],
    ['numbers', (ids) => ids.map(Number)],
    ['with ID 0', (ids) => ['0', ...ids.slice(1)]],
  ])('snowflake IDs: %s', async (_, spoil) => {
    bad.answer = (response, sound, { name }) => {
      send(response, 200, { key: name, ids: spoil([...(sound as { ids: string[] }).ids]) });
    };
    // The zone makes the client prefer the bad server; without it, either one could be first.
    expect(await client.snowflakes(1)).toEqual([1_000_000n]);
    expect(client.snapshot().servers[0]?.lastError).toMatch(/invalid response/);
  });

  it('says what was wrong when nobody answers rightly', async () => {
    const alone = new LeafClient({ servers: [bad.url], timeoutMs: 1500 });
    try {
      bad.answer = asRanges([{ from: '5', to: '1' }]);
      await until('the reason', async () => {
        const failure: unknown = await alone.nextId('order').catch((error: unknown) => error);
        expect(failure).toMatchObject({ code: 'LEAF_SERVERS_UNAVAILABLE' });
        // Longer than any pause of the machine.
        return /invalid response: its ranges do not ascend/.test(messageOf(failure));
      });
    } finally {
      await alone.close();
    }
  });
});
