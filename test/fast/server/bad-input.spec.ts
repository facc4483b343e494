import fc from 'fast-check';
import { call, text } from '../../support/http/http';
import { refusalCode } from '../../support/http/problem';
import { expectServing } from '../../support/servers/serving';
import { startTestServer, type TestServer } from '../../support/servers/server';

const TAG = 'leaf-segment-test';

let server: TestServer;
let port: number;

beforeAll(async () => {
  server = await startTestServer();
  port = server.port;
});

afterEach(() => expectServing(port));
afterAll(() => server.stop());

async function refused(path: string): Promise<string> {
  return refusalCode(await call(port, path));
}

describe('tags', () => {
  const tags = [
    ['a space', '%20'],
    ['a space inside', 'a%20b'],
    ['a plus', 'a+b'],
    ['umlauts', '%C3%A4%C3%B6'],
    ['an emoji', '%F0%9F%98%80'],
    ['129 characters', 'x'.repeat(129)],
    ['129 encoded characters', '%78'.repeat(129)],
    ['a single quote', "'%20OR%20'1'='1"],
    ['a double quote', '%22'],
    ['a semicolon', `${TAG};DROP%20TABLE%20leaf_alloc`],
    ['an encoded slash', 'a%2Fb'],
    ['encoded dots and slashes', '..%2F..%2Fetc%2Fpasswd'],
    ['a NUL', `${TAG}%00`],
    ['a line feed', `${TAG}%0A`],
    ['a script', '%3Cscript%3Ealert(1)%3C%2Fscript%3E'],
    ['a wildcard', '%25'],
    ['an asterisk', '*'],
    ['a dot', '%2E'],
    ['two dots', '%2e.'],
  ] as const;
  const routes = ['segment/get', 'segment/batch', 'segment/range', 'snowflake/get', 'snowflake/batch'];

  it.each(routes.flatMap((route) => tags.map(([what, tag]) => [route, what, tag])))(
    '%s refuses %s',
    async (route, _what, tag) => {
      expect(await refused(`/api/${route}/${tag}`)).toBe('LEAF_TAG_INVALID');
    },
  );

  it.each(routes)('%s refuses what is no percent-encoding', async (route) => {
    for (const tag of ['%zz', '%', '%E0%A4%A', '%C3', `${TAG}%`]) {
      expect(await refused(`/api/${route}/${tag}`)).toBe('LEAF_REQUEST_INVALID');
    }
  });

  it.each(routes)('%s has nothing without a tag', async (route) => {
    for (const path of [`/api/${route}`, `/api/${route}/`]) {
      expect(['LEAF_NOT_FOUND', 'LEAF_TAG_INVALID']).toContain(await refused(path));
    }
  });

  it.each(routes)('%s refuses a tag of 5000 characters', async (route) => {
    expect(await refused(`/api/${route}/${'x'.repeat(5000)}`)).toBe('LEAF_URL_TOO_LONG');
  });

  it.each(['get', 'batch', 'range'])('%s does not take names of JavaScript for tags', async (route) => {
    for (const tag of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(await refused(`/api/segment/${route}/${tag}`)).toBe('LEAF_TAG_NOT_FOUND');
    }
  });

  it('gives no part of a refused tag back as HTML', async () => {
    const { headers, body } = await call(port, '/api/segment/get/%3Cb%3E%22%27');
    expect(headers['content-type']).not.toContain('html');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect((JSON.parse(body) as { detail: string }).detail).toContain('\\"');
  });
});

describe('sizes', () => {
  const sizes = [
    ...['size=0', 'size=-1', 'size=1.5', 'size=1e3', 'size=0x10', 'size=abc', 'size=', 'size', 'size=%20', 'size=+1'],
    ...[
      'size=1&size=2',
      'size=1&size=1',
      'size=01',
      'size=99999999999999999999',
      'size=Infinity',
      'size=%00',
      'size=%zz',
    ],
    ...['size=1000001', 'size=%F0%9F%98%80', 'size=1,2', 'size=null'],
    // Names that a client may take for it.
    ...['Size=2', 'SIZE=1', 'size[]=2', 'size[0]=2', 'Size[a]=2', 'size=2&Size=2', 'size=2&size[]=2', 'size%5B%5D=2'],
  ];

  it.each(sizes)('%s is refused by every route', async (query) => {
    for (const route of ['segment/batch', 'segment/range', 'snowflake/batch']) {
      expect(await refused(`/api/${route}/${TAG}?${query}`)).toBe('LEAF_SIZE_INVALID');
    }
  });

  it.each(['Size', 'size[]', 'size[0]'])('%s is named as it was written', async (name) => {
    const { body } = await call(port, `/api/segment/batch/${TAG}?size=2&${encodeURIComponent(name)}=2`);
    const { detail } = JSON.parse(body) as { detail: string };
    expect(detail).toBe(`Unknown parameter "${name}": the parameter is called "size".`);
  });

  it.each(['segment/batch', 'snowflake/batch'])('10001 is refused by %s', async (route) => {
    expect(await refused(`/api/${route}/${TAG}?size=10001`)).toBe('LEAF_SIZE_INVALID');
  });

  it('other names than size are no concern', async () => {
    const answer = await text(port, `/api/segment/batch/${TAG}?sizes=0&__proto__=1&asize=5&sizeof=2&%zz=%zz&=&&`);
    expect((JSON.parse(answer) as { ids: string[] }).ids).toHaveLength(1);
  });
});

describe('IDs to decode', () => {
  const ids = ['-1', 'abc', '9223372036854775808', '99999999999999999999', '0x10', '1.5', '1e3', '%20', '1%20', '%00'];

  it.each(ids)('%s is refused', async (id) => {
    expect(await refused(`/api/snowflake/decode/${id}`)).toBe('LEAF_ID_INVALID');
    expect(await refused(`/decodeSnowflakeId?snowflakeId=${id}`)).toBe('LEAF_ID_INVALID');
  });

  it.each(['', '?snowflakeId', '?snowflakeId=', '?snowflakeId=1&snowflakeId=2', '?snowflakeid=1'])(
    '/decodeSnowflakeId%s is refused',
    async (query) => {
      expect(await refused(`/decodeSnowflakeId${query}`)).toBe('LEAF_ID_INVALID');
    },
  );

  it('none is refused', async () => {
    expect(['LEAF_NOT_FOUND', 'LEAF_ID_INVALID']).toContain(await refused('/api/snowflake/decode/'));
  });
});

describe('anything at all', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'api',
      'segment',
      'snowflake',
      'get',
      'batch',
      'range',
      'decode',
      TAG,
      'health',
      'metrics',
      '..',
      '',
    ),
    fc.string({ maxLength: 20 }).map(encodeURIComponent),
    fc.string({ unit: 'binary', maxLength: 8 }).map((given) => encodeURIComponent(given)),
    fc.stringMatching(/^[!-~]{0,12}$/),
  );
  const request = fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
    path: fc.array(word, { maxLength: 6 }).map((words) => `/${words.join('/')}`),
    query: fc.oneof(
      fc.constant(''),
      fc.stringMatching(/^\?[!-~]{0,30}$/),
      fc.stringMatching(/^[!-~]{0,12}$/).map((size) => `?size=${size}`),
    ),
  });

  it('is answered with an ID, a page or a refusal', async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, query }) => {
        const answer = await call(port, path + query, { method });
        expect(answer.status).toBeLessThan(500);
        const isPage = /^\/(cache|db)?([?#]|$)/.test(path + query) && (method === 'GET' || method === 'HEAD');
        expect((answer.headers['content-type'] ?? '').includes('html')).toBe(isPage);
        if (isPage || method === 'HEAD') return;
        if (answer.status >= 400) refusalCode(answer);
        expect(answer.body).not.toBe('0');
      }),
      { numRuns: 300 },
    );
  });
});
