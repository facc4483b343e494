import { insertTag } from '../support/servers/data-directory';
import { type Answer, call } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAGS = 2345;
const FIRST = 'leaf-segment-test';
const NAMES = [FIRST, ...Array.from({ length: TAGS }, (_, n) => `Shop:tag-${n * 37}`)].sort();
const LISTS = ['/api/tags', '/api/monitor/segments', '/cache', '/db'];

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ LEAF_SEGMENT_REFRESH_MS: '100' });
  // Not in the order of the names.
  insertTag(
    server.directory,
    ...NAMES.filter((tag) => tag !== FIRST)
      .reverse()
      .map((tag) => ({ tag, step: 5 })),
  );
  await until('all tags', async () => (await namesOf('/api/monitor/segments', 1000)).length === NAMES.length);
});
afterAll(() => server.stop());

function tagsIn({ body, headers }: Answer): string[] {
  if (headers['content-type']?.startsWith('text/html') === true) {
    return [...body.matchAll(/<tr>\s*<td>(.*?)<\/td>/g)].map(([, tag]) => tag!);
  }
  const list = JSON.parse(body) as { tag: string }[] | { tags: { tag: string }[] };
  return (Array.isArray(list) ? list : list.tags).map(({ tag }) => tag);
}

/** Of all pages, by the links from one to the next. */
async function namesOf(path: string, limit: number): Promise<string[]> {
  const names: string[] = [];
  for (let query: string | undefined = `?limit=${limit}`; query !== undefined;) {
    const answer = await call(server.port, path + query);
    expect(answer.status).toBe(200);
    const found = tagsIn(answer);
    expect(found.length).toBeLessThanOrEqual(limit);
    names.push(...found);
    query = /^<(\?after=[^>&]+&limit=\d+)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1];
  }
  return names;
}

describe.each(LISTS)('%s', (path) => {
  it.each([300, 1000])('has every tag once and in order, in pages of %d', async (limit) => {
    expect(await namesOf(path, limit)).toEqual(NAMES);
  });

  it('begins after any name', async () => {
    const page = await call(server.port, `${path}?limit=7&after=${NAMES[100]}`);
    expect(tagsIn(page)).toEqual(NAMES.slice(101, 108));
  });

  it('has at most 1000 tags without a limit', async () => {
    const answer = await call(server.port, path);
    expect(tagsIn(answer)).toEqual(NAMES.slice(0, 1000));
    expect(answer.headers['link']).toBe(`<?after=${encodeURIComponent(NAMES[999]!)}&limit=1000>; rel="next"`);
  });

  it('ends with a page without a link', async () => {
    const last = await call(server.port, `${path}?limit=5&after=${NAMES.at(-6)}`);
    expect(tagsIn(last)).toEqual(NAMES.slice(-5));
    expect(last.headers['link']).toBeUndefined();
    expect(tagsIn(await call(server.port, `${path}?after=${NAMES.at(-1)}`))).toStrictEqual([]);
    expect(tagsIn(await call(server.port, `${path}?limit=1&after=Shop:tag`))).toEqual([NAMES[0]]);
  });

  it.each(['limit=0', 'limit=1001', 'limit=', 'limit=1e2', 'limit=-1', 'limit=01', 'limit=x', 'limit=1&limit=2'])(
    'refuses %s',
    async (query) => expect(problemCode(await call(server.port, `${path}?${query}`))).toBe('LEAF_REQUEST_INVALID'),
  );

  it.each([`after=${'x'.repeat(129)}`, 'after=%00', 'after=a&after=b'])('refuses %s', async (query) => {
    const answer = await call(server.port, `${path}?${query}`);
    expect([answer.status, problemCode(answer)]).toEqual([400, 'LEAF_REQUEST_INVALID']);
  });
});

it('the pages of the Java service lead to the next one', async () => {
  for (const path of ['/cache', '/db']) {
    const { body } = await call(server.port, `${path}?limit=2`);
    expect(body).toContain(`<a rel="next" href="?after=${encodeURIComponent(NAMES[1]!)}&amp;limit=2">Next page</a>`);
  }
});
