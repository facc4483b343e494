import type {
  MonitorTag,
  OverviewView,
  SegmentsView,
  SnowflakeView,
} from '../../apps/leaf-server/src/monitor/views/views';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { ROOT } from '../support/build';
import { insertTag } from '../support/servers/data-directory';
import { call, json, text } from '../support/http/http';
import { manifestOf } from '../support/packages';
import { problemCode } from '../support/http/problem';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const overviewOf = (port: number): Promise<OverviewView> => json(port, '/api/monitor/overview');

async function tagOf(port: number, name: string): Promise<MonitorTag | undefined> {
  const { tags } = await json<SegmentsView>(port, '/api/monitor/segments');
  return tags.find(({ tag }) => tag === name);
}

describe('the monitor', () => {
  let server: TestServer;
  let port: number;

  beforeAll(async () => {
    server = await startTestServer({
      LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
      LEAF_NAME: 'watched',
      LEAF_ADVERTISE_HOST: '10.1.2.3',
      LEAF_SEGMENT_PREFETCH_RATIO: '0.25',
    });
    port = server.port;
  });

  afterAll(() => server.stop());

  it('says who this server is and what it stands on', async () => {
    const overview = await overviewOf(port);
    const { version } = await manifestOf(ROOT);
    expect(overview).toMatchObject({ name: 'watched', version, instance: '10.1.2.3:0', ready: true });
    expect(overview.startedAt).toBeLessThanOrEqual(overview.now);
    expect(Math.abs(overview.now - Date.now())).toBeLessThan(60_000);
    expect(overview.parts.map(({ name, status, reason }) => [name, status, reason])).toEqual([
      ['segment', 'up', null],
      ['database', 'up', null],
      ['snowflake', 'up', null],
      ['registry', 'up', null],
      ['clock', 'up', null],
      ['drain', 'up', null],
    ]);
    const database = overview.parts.find(({ name }) => name === 'database');
    expect(database?.description).toBe(`sqlite:${server.directory}/leaf.sqlite`);
  });

  it('shows a tag before and after its first segment', async () => {
    insertTag(server.directory, { tag: 'fresh', step: 100, maxId: 501 });
    await admin(port, 'POST', '/api/tags/fresh/pause');
    expect(await tagOf(port, 'fresh')).toEqual({
      tag: 'fresh',
      strict: false,
      initialized: false,
      nextReady: false,
      loading: false,
      paused: true,
      period: null,
      position: null,
      segments: [null, null],
      step: 0,
      databaseStep: 0,
      issued: 0,
      buffered: 0,
      rate: 0,
      lastsMs: null,
      loads: 0,
      failures: 0,
      lastLoad: { at: null, ms: null, error: null },
    });
    await admin(port, 'POST', '/api/tags/fresh/resume');
    expect(await text(port, '/api/segment/get/fresh')).toBe('501');
    await text(port, '/api/segment/range/fresh?size=30');
    const shown = await until('the next segment', async () => {
      const tag = await tagOf(port, 'fresh');
      return tag?.nextReady === true && tag;
    });
    expect(shown).toMatchObject({
      initialized: true,
      paused: false,
      position: '532',
      segments: [
        { value: '532', max: '601', step: 100 },
        { value: '601', max: '701', step: 100 },
      ],
      step: 100,
      databaseStep: 100,
      issued: 31,
      buffered: 169,
      loads: 2,
      failures: 0,
      lastLoad: { at: expect.any(Number), ms: expect.any(Number), error: null },
    });
    expect((await json<SegmentsView>(port, '/api/monitor/segments')).prefetchRatio).toBe(0.25);
  });

  it('shows IDs above 2^53 as they are', async () => {
    insertTag(server.directory, { tag: 'large', step: 10, maxId: 9_007_199_254_740_991 });
    await text(port, '/api/segment/range/large?size=5');
    const shown = await until('the next segment', async () => {
      const tag = await tagOf(port, 'large');
      return tag?.buffered === 10 && tag;
    });
    expect(shown).toMatchObject({
      position: '9007199254740996',
      segments: expect.arrayContaining([
        expect.objectContaining({ value: '9007199254740996', max: '9007199254741006', step: 10 }),
      ]) as unknown,
    });
  });

  it('counts IDs, and tells rates, errors and latencies of the last minute', async () => {
    const before = await overviewOf(port);
    await text(port, `/api/segment/range/${TAG}?size=600000`);
    await text(port, '/api/snowflake/batch/order?size=5000');
    const after = await overviewOf(port);
    expect(after.issued.segment - before.issued.segment).toBe(600_000);
    expect(after.issued.snowflake - before.issued.snowflake).toBe(5000);
    const now = await until('rates', async () => {
      await text(port, `/api/segment/get/${TAG}`);
      await text(port, '/api/snowflake/get/order');
      await call(port, '/api/segment/get/no-such-tag');
      const overview = await overviewOf(port);
      return overview.rate.segment > 0 && overview.rate.snowflake > 0 && overview.errorRate > 0 && overview;
    });
    const { p50, p99, p999 } = now.latencyMs!;
    expect([p50 > 0, p99 >= p50, p999 >= p99]).toEqual([true, true, true]);

    const history = await until('a step of the history', async () => {
      const overview = await overviewOf(port);
      return overview.history.segment.some((rate) => rate > 0) && overview.history;
    });
    expect(history.stepMs).toBe(5000);
    const inAll = (rates: readonly number[]): number => rates.reduce((sum, rate) => sum + 5 * rate, 0);
    // A sample may come late, and a step is then measured over its own length.
    expect(inAll(history.segment)).toBeGreaterThan(300_000);
    expect(inAll(history.segment)).toBeLessThan(1_200_000);
    expect(history.snowflake).toHaveLength(history.segment.length);
    expect(history.errors).toHaveLength(history.segment.length);

    const tag = await until('the rate of the tag', async () => {
      const seen = await tagOf(port, TAG);
      return seen !== undefined && seen.rate > 0 && seen;
    });
    expect(tag.issued).toBeGreaterThan(600_000);
    // At least a few seconds since the start, at most the minute that is looked at.
    expect(tag.rate).toBeGreaterThan(600_000 / 61);
    expect(tag.rate).toBeLessThan(600_000);
    expect(tag.lastsMs! / ((tag.buffered * 1000) / tag.rate)).toBeCloseTo(1, 1);
  });

  it('shows the worker, its lease and its layout', async () => {
    await text(port, '/api/snowflake/get/order');
    const { enabled, worker, refusal } = await json<SnowflakeView>(port, '/api/monitor/snowflake');
    expect([enabled, refusal]).toEqual([true, null]);
    expect(worker).toMatchObject({
      registry: expect.stringMatching(/^database /),
      workerId: expect.any(Number),
      minWorkerId: 0,
      maxWorkerId: 1023,
      instance: '10.1.2.3:0',
      horizonMs: 3_600_000,
      lost: null,
      trouble: null,
      clock: { offsetMs: null, backwardsSteps: 0 },
      layout: {
        epoch: 1_288_834_974_657,
        timeBits: 41,
        workerBits: 10,
        datacenterBits: 0,
        sequenceBits: 12,
        endsAt: 3_487_858_230_208,
      },
      peers: [{ instance: '10.1.2.3:0', workerId: expect.any(Number) }],
    });
    expect(worker!.ceiling).toBeGreaterThan(worker!.floor);
    expect(worker!.issued).toBeGreaterThan(0);
  });

  it('says when this server drains', async () => {
    await admin(port, 'POST', '/api/server/drain');
    const { ready, parts } = await overviewOf(port);
    expect(ready).toBe(false);
    expect(parts.at(-1)).toMatchObject({ name: 'drain', status: 'down', reason: expect.stringContaining('drain') });
    await admin(port, 'DELETE', '/api/server/drain');
    expect((await overviewOf(port)).ready).toBe(true);
  });

  it('answers nothing that a cache may keep', async () => {
    for (const view of ['overview', 'segments', 'snowflake']) {
      const { headers } = await call(port, `/api/monitor/${view}`);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
      });
    }
  });
});

describe('a server with one mode', () => {
  const partsOf = async (port: number): Promise<Record<string, string>> =>
    Object.fromEntries((await overviewOf(port)).parts.map(({ name, status }) => [name, status]));

  it('shows that the other one is off', async () => {
    const segments = await startTestServer({ LEAF_SNOWFLAKE_ENABLED: 'false' });
    try {
      expect(await partsOf(segments.port)).toEqual({
        segment: 'up',
        database: 'up',
        snowflake: 'off',
        registry: 'off',
        clock: 'off',
        drain: 'up',
      });
      expect(await json(segments.port, '/api/monitor/snowflake')).toMatchObject({ enabled: false, worker: null });
    } finally {
      await segments.stop();
    }
  });

  it('has no tables to show without segments', async () => {
    const snowflakes = await startTestServer({ LEAF_SEGMENT_ENABLED: 'false' });
    try {
      const { port } = snowflakes;
      expect(await partsOf(port)).toMatchObject({ segment: 'off', database: 'off', snowflake: 'up', registry: 'up' });
      expect(await json(port, '/api/monitor/segments')).toMatchObject({ enabled: false, tags: [] });
      for (const path of ['/cache', '/db']) expect(problemCode(await call(port, path))).toBe('LEAF_SEGMENT_DISABLED');
    } finally {
      await snowflakes.stop();
    }
  });
});

describe('the pages of the Java service', () => {
  let server: TestServer;
  beforeAll(async () => (server = await startTestServer({ LEAF_SEGMENT_REFRESH_MS: '100' })));
  afterAll(() => server.stop());

  const cells = (page: string, kind: 'th' | 'td'): string[] =>
    [...page.matchAll(new RegExp(`<${kind}(?: [^>]*)?>(.*?)</${kind}>`, 'g'))].map(([, cell]) => cell!);

  it('have their columns', async () => {
    expect(await text(server.port, `/api/segment/get/${TAG}`)).toBe('1');
    const cache = await text(server.port, '/cache');
    expect(cells(cache, 'th')).toEqual('name,init,next,pos,value0,max0,step0,value1,max1,step1'.split(','));
    expect(cells(cache, 'td')).toEqual([TAG, 'true', 'false', '0', '2', '2001', '2000', '0', '0', '0']);
    const db = await text(server.port, '/db');
    expect(cells(db, 'th')).toEqual(['tag', 'max', 'step', 'update']);
    expect(cells(db, 'td')).toEqual([TAG, '2001', '2000', expect.stringMatching(/^\d{4}-.*Z$/)]);
  });

  it('lead to the console, load nothing from elsewhere and run nothing', async () => {
    for (const path of ['/cache', '/db']) {
      const { headers, body } = await call(server.port, path);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      expect(body).toContain('<a href="/">');
    }
  });

  it('escape a row that was written by hand', async () => {
    const evil = `<script>alert('x')</script>`;
    insertTag(server.directory, { tag: evil, step: 5 });
    insertTag(server.directory, { tag: '"><img src=x onerror=alert(1)>', step: 5 });
    const db = await text(server.port, '/db');
    expect(db).toContain('<td>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</td>');
    expect(db).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;');
    expect(db).not.toMatch(/<script|<img/);
    insertTag(server.directory, { tag: 'seen', step: 5 });
    const cache = await until('the next refresh', async () => {
      const page = await text(server.port, '/cache');
      return page.includes('<td>seen</td>') && page;
    });
    expect(cache).not.toMatch(/<script|<img/);
  });
});
