import { LeafClient } from '@leaf-ids/client';
import { idsOf, PeriodFormat } from '@leaf-ids/core';
import { PeriodCalendar } from '@leaf-ids/core/internal';
import { createTagStore, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { call, json } from '../../support/http/http';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';

const STEP = 50;
const DAY_MS = 86_400_000;
const ZONE = 'Asia/Kathmandu';

interface Numbers {
  readonly tag: string;
  readonly period: string;
  readonly ranges: readonly { readonly from: string; readonly to: string }[];
}

const nameAt = (at: number): string => new PeriodCalendar('daily', ZONE).nameAt(at);
const pathAt = (at: number, size = 1): string =>
  `/api/segment/period/invoice?size=${size}&at=${new Date(at).toISOString()}`;

/** The first millisecond of the day in the zone after the one of `at`. */
function midnightAfter(at: number): number {
  let [before, after] = [at, at + DAY_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (nameAt(middle) === nameAt(at)) before = middle;
    else after = middle;
  }
  return after;
}

async function createInvoices(url: string): Promise<void> {
  const dataSource = await connect(parseDatabaseUrl(url));
  const tags = createTagStore(dataSource);
  await tags.create({ tag: 'invoice', step: STEP, maxStep: STEP, reset: 'daily', zone: ZONE });
  await tags.create({ tag: 'order', step: STEP });
  await dataSource.destroy();
}

async function nextIdOf(url: string, row: string): Promise<number> {
  const dataSource = await connect(parseDatabaseUrl(url), false);
  const sql = `SELECT next_id FROM leaf_alloc WHERE biz_tag = '${row}'`;
  const [found] = await dataSource.query<{ next_id: string }[]>(sql);
  await dataSource.destroy();
  return Number(found?.next_id);
}

describe.each<[string, () => Promise<PrivateServer>]>([
  ['MariaDB', startMariadb],
  ['PostgreSQL', startPostgres],
])('two servers on %s', (_name, start) => {
  let database: PrivateServer;
  let url: string;
  let servers: TestServer[];

  beforeAll(async () => {
    database = await start();
    url = await database.createDatabase();
    await createInvoices(url);
    const env = { LEAF_DATABASE_URL: url, LEAF_SNOWFLAKE_ENABLED: 'false' };
    servers = [await startTestServer(env), await startTestServer(env)];
  });
  afterAll(() => database.stop());

  it('give every number of two days once, across midnight and under load', async () => {
    const midnight = midnightAfter(Date.now());
    const given = new Map<string, number[]>();
    const note = (period: string, ranges: readonly { readonly from: unknown; readonly to: unknown }[]): void => {
      const numbers = given.get(period) ?? [];
      for (const { from, to } of ranges) for (let n = Number(from); n <= Number(to); n++) numbers.push(n);
      given.set(period, numbers);
    };
    const client = new LeafClient({ servers: servers.map(({ port }) => `http://127.0.0.1:${port}`) });
    // Callers whose clocks differ go from half a second before midnight to half a second after it, some of them back.
    const callers = Array.from({ length: 12 }, async (_, caller) => {
      const { port } = servers[caller % 2]!;
      for (let step = -50; step < 50; step++) {
        const at = midnight + (caller % 5 === 4 ? -step : step) * 10 + caller;
        const size = 1 + ((step + 200 + caller) % 4) * 3;
        if (caller >= 9) {
          const { period, ranges } = await client.nextRangesInPeriod('invoice', size, new Date(at));
          expect(period).toBe(nameAt(at));
          note(period, ranges);
        } else {
          const { tag, period, ranges } = await json<Numbers>(port, pathAt(at, size));
          expect([tag, period]).toEqual(['invoice', nameAt(at)]);
          note(period, ranges);
        }
      }
    });
    await Promise.all(callers);
    await client.close();
    for (const { stop } of servers) await stop();
    expect([...given.keys()].sort()).toEqual([nameAt(midnight - 1), nameAt(midnight)]);
    for (const [period, numbers] of given) {
      expect(new Set(numbers).size).toBe(numbers.length);
      const missing = (await nextIdOf(url, `invoice@${period}`)) - 1 - numbers.length;
      process.stdout.write(
        `${expect.getState().currentTestName}: ${period}: ${numbers.length} numbers, ${missing} missing\n`,
      );
      // Of the server that stops first its two segments, when the other one has allocated above them; of that one then
      // the rest of a segment below them.
      expect(missing).toBeGreaterThanOrEqual(0);
      expect(missing).toBeLessThanOrEqual(3 * STEP);
    }
  });
});

describe('a server', () => {
  let server: TestServer;
  let port: number;

  beforeAll(async () => {
    server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
    ({ port } = server);
    await createInvoices(`sqlite:${server.directory}/leaf.sqlite`);
  });
  afterAll(() => server.stop());

  const codeOf = async (path: string): Promise<string> => problemCode(await call(port, path));

  it('says the period with its numbers', async () => {
    const now = Date.now();
    expect(await json<Numbers>(port, pathAt(now))).toEqual({
      tag: 'invoice',
      period: nameAt(now),
      ranges: [{ from: '1', to: '1' }],
    });
    expect(await json<Numbers>(port, pathAt(now + DAY_MS, 120))).toMatchObject({ period: nameAt(now + DAY_MS) });
    expect([nameAt(now), nameAt(now + DAY_MS)]).toContain(
      (await json<Numbers>(port, '/api/segment/period/invoice')).period,
    );
  });

  it.each(['get/invoice', 'batch/invoice?size=2', 'range/invoice?size=2'])(
    'gives no number alone: %s',
    async (path) => {
      const answer = await call(port, `/api/segment/${path}`);
      expect(problemCode(answer)).toBe('LEAF_TAG_PERIODIC');
      expect(answer.status).toBe(409);
      expect(JSON.parse(answer.body)).toMatchObject({ detail: expect.stringContaining('/api/segment/period/invoice') });
    },
  );

  it('writes the numbers by a pattern, and takes none by an invalid one', async () => {
    const path = (format: string, more = ''): string =>
      `/api/segment/period/invoice?format=${encodeURIComponent(format)}${more}`;
    const pattern = 'R +"{YY}{MM}{DD}{seq:6}';
    const { period, ranges, texts } = await json<Numbers & { texts: string[] }>(port, path(pattern, '&size=3'));
    const format = new PeriodFormat({ reset: 'daily', pattern });
    const numbers = idsOf(ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) })));
    expect(texts.map((text) => format.parse(text))).toEqual(numbers.map((number) => ({ period, number })));
    for (const bad of ['', 'x', '{YYYY}-{MM}-{seq}', '{YYYY}{MM}{DD}{seq}{x}', `${pattern}${'x'.repeat(128)}`]) {
      const answer = await call(port, path(bad));
      expect([bad, answer.status, problemCode(answer)]).toEqual([bad, 400, 'LEAF_REQUEST_INVALID']);
    }
    expect(await codeOf(path(pattern, '&format=x'))).toBe('LEAF_REQUEST_INVALID');
    expect(await codeOf(path(pattern, '&size=1001'))).toBe('LEAF_SIZE_INVALID');
    expect(await codeOf(`/api/segment/period/order?format=x`)).toBe('LEAF_TAG_NOT_PERIODIC');
    const after = await json<Numbers & { texts: string[] }>(port, path(pattern));
    expect(format.parse(after.texts[0]!).number).toBe(numbers.at(-1)! + 1n);
  });

  it('gives nothing of the row of a period', async () => {
    const { period } = await json<Numbers>(port, '/api/segment/period/invoice');
    for (const at of ['@', '%40']) {
      for (const route of ['get', 'batch', 'range', 'period']) {
        expect(await codeOf(`/api/segment/${route}/invoice${at}${period}`)).toBe('LEAF_TAG_INVALID');
      }
      expect(await codeOf(`/api/tags/invoice${at}${period}`)).toBe('LEAF_TAG_INVALID');
    }
  });

  it('refuses other tags, sizes and dates', async () => {
    expect(await codeOf('/api/segment/period/order')).toBe('LEAF_TAG_NOT_PERIODIC');
    expect(await codeOf('/api/segment/period/nobody')).toBe('LEAF_TAG_NOT_FOUND');
    expect(await codeOf('/api/segment/period/invoice?size=0')).toBe('LEAF_SIZE_INVALID');
    const bad = ['', 'now', '2026-11-22', '2026-11-22T10:00:00', '2026-02-30T10:00:00Z', '2026-11-22T25:00:00Z', '1'];
    bad.push('2026-11-22T10:00:00+01:00', '2026-11-22T10:00:00Z&at=2026-11-22T10:00:00Z');
    bad.push(...[-401, 3, 40_000].map((days) => new Date(Date.now() + days * DAY_MS).toISOString()));
    for (const at of bad)
      expect([at, await codeOf(`/api/segment/period/invoice?at=${at}`)]).toEqual([at, 'LEAF_PERIOD_INVALID']);
    const offset = new Date().toISOString().replace('Z', '%2B00:00');
    const leapSecond = `${new Date().toISOString().slice(0, 14)}59:60Z`;
    for (const at of [offset, leapSecond]) {
      expect((await call(port, `/api/segment/period/invoice?at=${at}`)).status).toBe(200);
    }
  });

  it('shows the tag with its newest period, and pauses it', async () => {
    const { period } = await json<Numbers>(port, pathAt(Date.now() + DAY_MS));
    const { tags } = await json<{ tags: { tag: string }[] }>(port, '/api/monitor/segments');
    expect(tags.filter(({ tag }) => tag.startsWith('invoice'))).toEqual([
      expect.objectContaining({ tag: 'invoice', period, initialized: true }),
    ]);
    await admin(port, 'POST', '/api/tags/invoice/pause');
    expect(await codeOf('/api/segment/period/invoice')).toBe('LEAF_TAG_PAUSED');
    await admin(port, 'POST', '/api/tags/invoice/resume');
    expect((await call(port, '/api/segment/period/invoice')).status).toBe(200);
  });

  it('is asked by a client, which refuses what it refuses', async () => {
    const client = new LeafClient({ servers: [`http://127.0.0.1:${port}`] });
    const one = await client.nextInPeriod('invoice');
    const other = await client.nextInPeriod('invoice', new Date());
    expect(other.number).toBeGreaterThan(one.number);
    await expect(client.nextId('invoice')).rejects.toMatchObject({ code: 'LEAF_TAG_PERIODIC' });
    await expect(client.nextInPeriod('order')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_PERIODIC' });
    await expect(client.nextInPeriod('invoice', new Date(0))).rejects.toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
    await expect(client.nextInPeriod('invoice', new Date(NaN))).rejects.toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
    await client.close();
    await expect(client.nextInPeriod('invoice')).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });
});
