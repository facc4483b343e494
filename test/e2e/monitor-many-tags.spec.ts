import { join } from 'node:path';
import Libsql from 'libsql';
import type { SegmentsView } from '../../apps/leaf-server/src/monitor/views/views';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { EventReader } from '../support/http/event-reader';
import { call, text } from '../support/http/http';

const TAGS = 10_000;
const PAGE_ROWS = 1000;
/** One event is small enough not to hold up requests for long. */
const MAX_IN_EVENT = 250;
/** Far above what a slice takes, below what a server is worth that stands still. */
const ANSWER_LIMIT_MS = 5000;

const servers = new BuiltServers();
let server: BuiltServer;

beforeAll(async () => {
  await ensureBuilt();
  const directory = await servers.makeDirectory();
  const first = await servers.start(directory);
  const database = new Libsql(join(directory, 'leaf.sqlite'), { timeout: 5000 });
  database.exec(`INSERT INTO leaf_alloc (biz_tag, max_id, step)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${TAGS - 1})
    SELECT 'service.tag-' || i, 1, 100 FROM n`);
  database.close();
  first.signal('SIGTERM');
  await first.exit();
  server = await servers.start(directory);
});

afterAll(() => servers.end());

interface Row {
  readonly tag: string;
  readonly maxId: string;
}

/** Of all pages, by the links from one to the next. */
async function namesOf(path: string, namesIn: (body: string) => string[]): Promise<string[]> {
  const names: string[] = [];
  for (let query: string | undefined = ''; query !== undefined;) {
    const { body, headers } = await call(server.port, path + query);
    names.push(...namesIn(body));
    query = /^<([^>]+)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
  }
  return names;
}

describe('with ten thousand tags', () => {
  it('a stream begins with all of them, in pieces, while requests are served', async () => {
    const reader = await EventReader.open(server.port, '/api/monitor/stream');
    try {
      const seen: Promise<unknown> = reader.next('snowflake');
      let slowest = 0;
      for (let asked = 0; asked < 20 || reader.all('snowflake').length === 0; asked++) {
        const start = performance.now();
        await text(server.port, '/api/internal/time');
        slowest = Math.max(slowest, performance.now() - start);
      }
      await seen;
      expect(slowest).toBeLessThan(ANSWER_LIMIT_MS);
      const events = reader.all<SegmentsView>('segments');
      const names = events.flatMap(({ tags }) => tags.map(({ tag }) => tag));
      expect(new Set(names).size).toBe(TAGS);
      expect(names).toHaveLength(TAGS);
      expect(Math.max(...events.map(({ tags }) => tags.length))).toBeLessThanOrEqual(MAX_IN_EVENT);

      await text(server.port, '/api/segment/get/service.tag-77');
      const changed = await reader.next<SegmentsView>('segments', ({ tags }) => tags.some(({ issued }) => issued > 0));
      expect(changed.tags.map(({ tag }) => tag)).toEqual(['service.tag-77']);
    } finally {
      reader.close();
    }
  });

  it('pages have all of them, the same for those who ask at once', async () => {
    const ask = (): Promise<string[]> =>
      namesOf('/api/monitor/segments', (body) => (JSON.parse(body) as SegmentsView).tags.map(({ tag }) => tag));
    const [one, other] = await Promise.all([ask(), ask()]);
    expect(one).toEqual([...new Set(one)].sort());
    expect(one).toHaveLength(TAGS);
    expect(other).toEqual(one);
  });

  it('the list of tags is whole and in order, though it is read and written in pages', async () => {
    const rows: Row[] = [];
    const names = await namesOf('/api/tags', (body) => {
      const page = JSON.parse(body) as Row[];
      rows.push(...page);
      return page.map(({ tag }) => tag);
    });
    expect(names).toEqual([...new Set(names)].sort());
    expect(names).toHaveLength(TAGS);
    expect(rows.find(({ tag }) => tag === 'service.tag-9999')).toMatchObject({ maxId: '1', step: 100 });
  });

  it.each(['/cache', '/db'])('%s has a thousand, and leads to the next page', async (path) => {
    const page = await text(server.port, path);
    expect(page.match(/<tr>\s*<td>/g)).toHaveLength(PAGE_ROWS);
    expect(page).toMatch(/<a rel="next" href="\?after=[^"]+&amp;limit=1000">/);
  });
});
