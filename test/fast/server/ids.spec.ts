import { Agent } from 'node:http';
import { insertTag, maxIdOf } from '../../support/servers/data-directory';
import { type Answer, call, json, text } from '../../support/http/http';
import { scrape } from '../../support/http/metrics';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { until } from '../../support/until';

const TAG = 'leaf-segment-test';
const PLAIN = 'text/plain; charset=utf-8';

interface Batch {
  readonly ids: string[];
}

interface Ranges {
  readonly tag: string;
  readonly ranges: { readonly from: string; readonly to: string }[];
}

interface Decoded {
  readonly timestamp: number;
  readonly time: string;
  readonly workerId: number;
  readonly sequence: number;
}

function isAscending(ids: readonly bigint[]): boolean {
  return ids.every((id, index) => index === 0 || id > ids[index - 1]!);
}

function idsOf({ ranges }: Ranges): bigint[] {
  return ranges.flatMap(({ from, to }) => {
    const first = BigInt(from);
    return Array.from({ length: Number(BigInt(to) - first) + 1 }, (_, offset) => first + BigInt(offset));
  });
}

function sizeOf({ ranges }: Ranges): bigint {
  return ranges.reduce((sum, { from, to }) => sum + BigInt(to) - BigInt(from) + 1n, 0n);
}

describe.each([{ fastPath: true }, { fastPath: false }])('IDs, $fastPath for the fast route', (options) => {
  let server: TestServer;
  let port: number;
  let agent: Agent;

  beforeAll(async () => {
    server = await startTestServer({ LEAF_SNOWFLAKE_REGISTRY: 'local' }, options);
    port = server.port;
    agent = new Agent({ keepAlive: true, maxSockets: 16 });
  });

  afterAll(async () => {
    agent.destroy();
    await server.stop();
  });

  /** A tag that no other test uses. */
  function makeTag(tag: string, step = 2000): string {
    insertTag(server.directory, { tag, step });
    return tag;
  }

  describe('segment', () => {
    it('counts from 1', async () => {
      const ids = [];
      for (let i = 0; i < 5; i++) ids.push(await text(port, `/api/segment/get/${TAG}`));
      expect(ids).toEqual(['1', '2', '3', '4', '5']);
    });

    it('serves a tag that was just inserted', async () => {
      makeTag('just-inserted');
      expect(await text(port, '/api/segment/get/just-inserted')).toBe('1');
    });

    it('serves tags with every character that is allowed', async () => {
      const tag = makeTag(`aZ09._:-${'x'.repeat(120)}`);
      expect(await text(port, `/api/segment/get/${tag}`)).toBe('1');
      expect(await text(port, `/api/segment/get/${encodeURIComponent(tag)}`)).toBe('2');
    });

    it('refuses an unknown tag and forgets the refusal', async () => {
      expect(problemCode(await call(port, '/api/segment/get/comes-later'))).toBe('LEAF_TAG_NOT_FOUND');
      makeTag('comes-later');
      const found = await until('the new tag', async () => {
        const answer = await call(port, '/api/segment/get/comes-later');
        return answer.status !== 404 && answer;
      });
      expect(found).toMatchObject({ status: 200, body: '1' });
    });

    it('goes on over many segments without a gap', async () => {
      const tag = makeTag('small-step', 3);
      const ids = [];
      for (let i = 0; i < 100; i++) ids.push(Number(await text(port, `/api/segment/get/${tag}`, { agent })));
      expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    });

    it.each([1, 10, 10_000])('gives a batch of %i', async (size) => {
      const tag = makeTag(`batch-${size}`);
      const batch = await json<Batch>(port, `/api/segment/batch/${tag}?size=${size}`);
      expect(batch).toEqual({ tag, ids: Array.from({ length: size }, (_, index) => String(index + 1)) });
    });

    it('gives a batch of one when no size is asked for', async () => {
      const tag = makeTag('batch-default');
      expect(await json(port, `/api/segment/batch/${tag}`)).toEqual({ tag, ids: ['1'] });
    });

    it.each([1, 1999, 2001, 1_000_000])('gives ranges of %i IDs in all', async (size) => {
      const tag = makeTag(`range-${size}`);
      expect(await text(port, `/api/segment/get/${tag}`)).toBe('1');
      const answer = await json<Ranges>(port, `/api/segment/range/${tag}?size=${size}`);
      expect(answer.tag).toBe(tag);
      expect(sizeOf(answer)).toBe(BigInt(size));
      expect(
        isAscending(answer.ranges.flatMap(({ from, to }) => (from === to ? [from] : [from, to])).map(BigInt)),
      ).toBe(true);
      expect(answer.ranges[0]?.from).toBe('2');
      expect(answer.ranges.at(-1)?.to).toBe(String(size + 1));
    });

    it('gives IDs beyond 2^53 exactly', async () => {
      const maxId = Number.MAX_SAFE_INTEGER;
      insertTag(server.directory, { tag: 'large', step: 10, maxId });
      const { ids } = await json<Batch>(port, '/api/segment/batch/large?size=4');
      expect(ids).toEqual(['9007199254740991', '9007199254740992', '9007199254740993', '9007199254740994']);
    });

    it('never gives one ID twice nor leaves one out, whatever is asked for at once', async () => {
      const tag = makeTag('mixed', 7);
      const calls = Array.from({ length: 240 }, async (_, index): Promise<bigint[]> => {
        if (index % 3 === 0) return [BigInt(await text(port, `/api/segment/get/${tag}`, { agent }))];
        const size = (index % 17) + 1;
        if (index % 3 === 1) return idsOf(await json<Ranges>(port, `/api/segment/range/${tag}?size=${size}`));
        return (await json<Batch>(port, `/api/segment/batch/${tag}?size=${size}`)).ids.map(BigInt);
      });
      const answers = await Promise.all(calls);
      expect(answers.filter((ids) => !isAscending(ids))).toStrictEqual([]);
      const all = answers.flat().sort((a, b) => (a < b ? -1 : 1));
      expect(all).toEqual(all.map((_, index) => BigInt(index + 1)));
      expect(maxIdOf(server.directory, tag)).toBeGreaterThan(all.length);
    });
  });

  describe('snowflake', () => {
    it('gives ascending IDs that tell when and where they were made', async () => {
      const before = Date.now();
      const ids = [];
      for (let i = 0; i < 200; i++) ids.push(BigInt(await text(port, `/api/snowflake/get/key-${i}`, { agent })));
      expect(isAscending(ids)).toBe(true);
      const newest = await json<Decoded>(port, `/api/snowflake/decode/${ids.at(-1)}`);
      expect(newest.workerId).toBe(0);
      expect(newest.timestamp).toBeGreaterThanOrEqual(before - 10);
      expect(newest.timestamp).toBeLessThanOrEqual(Date.now());
    });

    it('never gives one ID twice to callers at once', async () => {
      const calls = Array.from({ length: 200 }, async (_, index): Promise<string[]> => {
        if (index % 10 > 0) return [await text(port, '/api/snowflake/get/order', { agent })];
        return (await json<Batch>(port, '/api/snowflake/batch/order?size=500')).ids;
      });
      const ids = (await Promise.all(calls)).flat();
      expect(new Set(ids).size).toBe(20 * 500 + 180);
    });

    it.each([1, 5000, 10_000])('gives a batch of %i, ascending', async (size) => {
      const { ids, ...rest } = await json<Batch>(port, `/api/snowflake/batch/order?size=${size}`);
      expect(rest).toEqual({ key: 'order' });
      expect(ids).toHaveLength(size);
      expect(isAscending(ids.map(BigInt))).toBe(true);
    });

    it('gives a batch of one when no size is asked for', async () => {
      expect((await json<Batch>(port, '/api/snowflake/batch/order')).ids).toHaveLength(1);
    });

    it('decodes an ID of the Java service', async () => {
      expect(await json(port, '/api/snowflake/decode/1169786042799259000')).toEqual({
        id: '1169786042799259000',
        timestamp: 1567733700834,
        time: '2019-09-06T01:35:00.834Z',
        workerId: 39,
        sequence: 3448,
      });
    });

    it('decodes for the bookmarks of the Java service', async () => {
      expect(await json(port, '/decodeSnowflakeId?snowflakeId=1169786042799259000')).toEqual({
        timestamp: expect.stringMatching(/^1567733700834\(2019-09-0\d \d{2}:\d{2}:00\.834\)$/) as string,
        sequenceId: '3448',
        workerId: '39',
      });
    });

    it.each(['0', '9223372036854775807', '0000000000000000001'])('decodes %s', async (id) => {
      const decoded = await json<{ id: string }>(port, `/api/snowflake/decode/${id}`);
      expect(decoded.id).toBe(String(BigInt(id)));
    });
  });

  describe('headers', () => {
    it.each([`/api/segment/get/${TAG}`, '/api/snowflake/get/order'])('of %s are those of plain text', async (path) => {
      for (let i = 0; i < 3; i++) {
        const { headers, body } = await call(port, path);
        expect(headers['content-type']).toBe(PLAIN);
        expect(headers['cache-control']).toBe('no-store');
        expect(headers['content-length']).toBe(String(body.length));
        expect(body).toMatch(/^[1-9]\d*$/);
      }
    });

    it.each([
      `/api/segment/batch/${TAG}`,
      `/api/segment/range/${TAG}`,
      '/api/snowflake/batch/order',
      '/api/internal/time',
      '/health/ready',
      '/metrics',
    ])('of %s keep caches away', async (path) => {
      expect((await call(port, path)).headers['cache-control']).toBe('no-store');
    });

    it('of HEAD come without a body', async () => {
      const { status, headers, body } = await call(port, `/api/segment/get/${TAG}`, { method: 'HEAD' });
      expect({ status, type: headers['content-type'], body }).toEqual({ status: 200, type: PLAIN, body: '' });
    });
  });

  describe('watching', () => {
    it('tells the time', async () => {
      const before = Date.now();
      const { now } = await json<{ now: number }>(port, '/api/internal/time');
      expect(now).toBeGreaterThanOrEqual(before);
      expect(now).toBeLessThanOrEqual(Date.now());
    });

    it('has started, is live and ready', async () => {
      expect(await json(port, '/health/startup')).toMatchObject({ status: 'ok', info: { start: { status: 'up' } } });
      expect(await json(port, '/health/live')).toMatchObject({ status: 'ok', error: {} });
      expect(await json(port, '/health/ready')).toEqual({
        status: 'ok',
        info: { drain: { status: 'up' }, segment: { status: 'up' }, snowflake: { status: 'up' } },
        error: {},
        details: { drain: { status: 'up' }, segment: { status: 'up' }, snowflake: { status: 'up' } },
      });
    });

    it('counts the requests of every route', async () => {
      const requests: readonly (readonly [path: string, route: string, status: number])[] = [
        [`/api/segment/get/${TAG}`, '/api/segment/get/:tag', 200],
        ['/api/segment/get/no-such-tag', '/api/segment/get/:tag', 404],
        ['/api/segment/get/%20', '/api/segment/get/:tag', 400],
        [`/api/segment/range/${TAG}`, '/api/segment/range/:tag', 200],
        [`/api/segment/range/${TAG}?size=2`, '/api/segment/range/:tag', 200],
        [`/api/segment/batch/${TAG}?size=2`, '/api/segment/batch/:tag', 200],
        [`/api/segment/batch/${TAG}?size=5000`, '/api/segment/batch/:tag', 200],
        ['/api/snowflake/batch/order?size=2', '/api/snowflake/batch/:key', 200],
        ['/api/snowflake/get/order', '/api/snowflake/get/:key', 200],
        ['/api/snowflake/batch/order?size=0', '/api/snowflake/batch/:key', 400],
        ['/no/such/route', 'unknown', 404],
      ];
      const counts = async (): Promise<Map<string, number>> => {
        const { samples } = (await scrape(port)).get('leaf_http_requests_total')!;
        return new Map(samples.map(({ labels, value }) => [`${labels.route} ${labels.status}`, value]));
      };
      const before = await counts();
      const wanted = new Map<string, number>();
      for (const [path, route, status] of requests) {
        const name = `${route} ${status}`;
        wanted.set(name, (wanted.get(name) ?? before.get(name) ?? 0) + 3);
        for (let i = 0; i < 3; i++) await call(port, path);
      }
      const after = await counts();
      expect(new Map([...wanted.keys()].map((name) => [name, after.get(name)]))).toEqual(wanted);
    });
  });

  describe('with one mode', () => {
    it.each([
      ['LEAF_SEGMENT_ENABLED', 'segment', ['get', 'batch', 'range'], 'LEAF_SEGMENT_DISABLED', '/api/snowflake/get/x'],
      ['LEAF_SNOWFLAKE_ENABLED', 'snowflake', ['get', 'batch'], 'LEAF_SNOWFLAKE_DISABLED', `/api/segment/get/${TAG}`],
    ])('%s=false refuses and serves the other', async (name, mode, verbs, code, other) => {
      const single = await startTestServer({ [name]: 'false' }, options);
      try {
        for (const verb of verbs) {
          const answer = await call(single.port, `/api/${mode}/${verb}/${TAG}`);
          expect(answer.status).toBe(501);
          expect(problemCode(answer)).toBe(code);
          expect(answer.body).toContain(`To enable it, set ${name}.`);
        }
        expect(await text(single.port, other)).toMatch(/^[1-9]\d*$/);
        expect((await call(single.port, '/health/ready')).status).toBe(200);
        expect((await call(single.port, `/health/ready/${mode}`)).status).toBe(503);
        const readyMode = mode === 'segment' ? 'snowflake' : 'segment';
        expect((await call(single.port, `/health/ready/${readyMode}`)).status).toBe(200);
        expect((await call(single.port, '/metrics')).status).toBe(200);
      } finally {
        await single.stop();
      }
    });
  });
});

describe('the fast route and the ordinary one', () => {
  /** What the connection or the moment decides, and a hint for browsers that plain numbers do not need. */
  const APART = ['date', 'connection', 'keep-alive', 'x-content-type-options'];
  let fast: TestServer;
  let ordinary: TestServer;

  beforeAll(async () => {
    [fast, ordinary] = await Promise.all([startTestServer(), startTestServer({}, { fastPath: false })]);
  });
  afterAll(() => Promise.all([fast.stop(), ordinary.stop()]));

  it.each([
    `/api/segment/get/${TAG}`,
    '/api/segment/get/unknown',
    '/api/segment/get/not%20a%20tag',
    `/api/segment/get/${TAG}?size=3`,
    `/api/segment/get/${TAG}/`,
    '/api/snowflake/get/',
    '/api/snowflake/get/not%2Fa%2Fkey',
    '/api/snowflake/get/order',
    '/api/snowflake/get/not+a+key',
    `/api/snowflake/get/${'x'.repeat(129)}`,
  ])('answer %s alike', async (path) => {
    for (let i = 0; i < 3; i++) await expectAlike(path);
  });

  it('answer batches and ranges alike', async () => {
    const segment = [1, 2, 100, 249, 250, 251, 1000, 1001, 10_000, 10_001].map((size) => `batch/${TAG}?size=${size}`);
    const odd = [
      '',
      '?size=',
      '?size=0',
      '?size=01',
      '?size=2&size=3',
      '?size=2&x=1',
      '?x=1&size=2',
      '?Size=2',
      '?size=1e2',
      '?nonce=a&size=2',
      ...['a', 'n'.repeat(64), 'n'.repeat(65), '', '%0d%0aX', 'a&nonce=b'].map((nonce) => `?size=2&nonce=${nonce}`),
    ];
    const ranges = [1, 600, 3000, 1_000_000, 1_000_001].map((size) => `range/${TAG}?size=${size}`);
    const names = [
      encodeURIComponent(TAG.replace('-', '%')),
      'leaf%2Dsegment-test',
      'unknown',
      '',
      'not+a+tag',
      'x'.repeat(129),
    ];
    const snowflake = [1, 250, 251, 1000, 1001, 10_000, 10_001].map((size) => `batch/order?size=${size}`);
    const paths = [
      ...[...segment, ...ranges, ...odd.flatMap((query) => [`batch/${TAG}${query}`, `range/${TAG}${query}`])].map(
        (path) => `/api/segment/${path}`,
      ),
      ...[...snowflake, ...odd.map((query) => `batch/order${query}`)].map((path) => `/api/snowflake/${path}`),
      ...names.flatMap((name) =>
        ['segment/batch', 'segment/range', 'snowflake/batch'].map((route) => `/api/${route}/${name}?size=2`),
      ),
    ];
    for (const path of [...paths, ...paths]) await expectAlike(path);
  });

  async function expectAlike(path: string): Promise<void> {
    const headers = { 'x-request-id': 'r-17' };
    const [one, other] = await Promise.all([
      call(fast.port, path, { headers }),
      call(ordinary.port, path, { headers }),
    ]);
    for (const name of APART) for (const { headers } of [one, other]) Reflect.deleteProperty(headers, name);
    const isSnowflake = one.status === 200 && path.startsWith('/api/snowflake');
    const told = ({ status, headers, body }: Answer): unknown => ({
      path,
      status,
      headers,
      body: isSnowflake ? body.length : body,
    });
    expect(told(one)).toEqual(told(other));
  }
});
