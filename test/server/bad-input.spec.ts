import fc from 'fast-check';
import { type Answer, call, type Call, rawCall, text } from '../support/http';
import { problemCode } from '../support/problem';
import { startTestServer, type TestServer } from '../support/server';

const TAG = 'leaf-segment-test';
const CLOSE = 'Host: leaf\r\nConnection: close\r\n\r\n';
const JSON_TYPE = { 'content-type': 'application/json' };

let server: TestServer;
let port: number;

beforeAll(async () => {
  server = await startTestServer();
  port = server.port;
});

/** Whatever came in, the next customer is served. */
afterEach(async () => {
  expect(Number(await text(port, `/api/segment/get/${TAG}`))).toBeGreaterThan(0);
  expect(Number(await text(port, '/api/snowflake/get/order'))).toBeGreaterThan(0);
  expect((await call(port, '/health/ready')).status).toBe(200);
});

afterAll(() => server.stop());

/** The code of a refusal that is the client's to mend. */
function refusal(answer: Answer): string {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  return problemCode(answer);
}

async function refused(path: string, options?: Call): Promise<string> {
  return refusal(await call(port, path, options));
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
  ];

  it.each(sizes)('%s is refused by every route', async (query) => {
    for (const route of ['segment/batch', 'segment/range', 'snowflake/batch']) {
      expect(await refused(`/api/${route}/${TAG}?${query}`)).toBe('LEAF_SIZE_INVALID');
    }
  });

  it.each(['segment/batch', 'snowflake/batch'])('10001 is refused by %s', async (route) => {
    expect(await refused(`/api/${route}/${TAG}?size=10001`)).toBe('LEAF_SIZE_INVALID');
  });

  it('other names than size are no concern', async () => {
    const answer = await text(port, `/api/segment/batch/${TAG}?Size=0&__proto__=1&size[]=5&%zz=%zz&=&&`);
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

describe('routes', () => {
  const paths = [
    ...[
      '/no/such',
      '//',
      '//api/segment/get/x',
      `/api//segment/get/${TAG}`,
      `/api/segment/get/${TAG}/`,
      '/API/segment/get/x',
    ],
    ...[
      `/api/segment/get/${TAG}/more`,
      '/api/segment/../segment/get/x',
      '/.env',
      '/.git/config',
      '/index.php',
      '/%2e%2e/',
    ],
    ...['/api/segment/', '/metrics/', '/health', '/health/nothing', '/favicon.ico', '/<script>alert(1)'],
  ];

  it.each(paths)('%s is none', async (path) => {
    expect(await refused(path)).toBe('LEAF_NOT_FOUND');
  });

  const verbs = ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'LOCK'];

  it.each(verbs)('%s gets no ID', async (method) => {
    for (const path of [
      `/api/segment/get/${TAG}`,
      '/api/snowflake/get/order',
      `/api/segment/batch/${TAG}`,
      '/nothing',
    ]) {
      expect(await refused(path, { method })).toBe('LEAF_NOT_FOUND');
    }
  });
});

describe('bodies', () => {
  const path = `/api/segment/get/${TAG}`;

  it.each(['{', '{"a":}', 'null,', 'nonsense'])('%s is no JSON', async (body) => {
    expect(await refused(path, { method: 'POST', headers: JSON_TYPE, body })).toBe('LEAF_BODY_INVALID');
  });

  it('an empty one is no JSON', async () => {
    const code = await refused(path, { method: 'POST', headers: { ...JSON_TYPE, 'content-length': 0 } });
    expect(['LEAF_BODY_INVALID', 'LEAF_NOT_FOUND']).toContain(code);
  });

  it('one of 70 KiB is too large', async () => {
    const body = JSON.stringify('x'.repeat(70 * 1024));
    expect(await refused(path, { method: 'POST', headers: JSON_TYPE, body })).toBe('LEAF_BODY_TOO_LARGE');
  });

  it('one of 70 KiB that does not say its length is too large', async () => {
    const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
    const body = JSON.stringify('x'.repeat(70 * 1024));
    expect(await refused(path, { method: 'POST', headers, body })).toBe('LEAF_BODY_TOO_LARGE');
  });

  it.each(['text/weird', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'garbage', '/;;='])(
    'one of type %s is not read',
    async (type) => {
      const code = await refused(path, { method: 'POST', headers: { 'content-type': type }, body: '{}' });
      expect(['LEAF_NOT_FOUND', 'LEAF_MEDIA_TYPE_UNSUPPORTED']).toContain(code);
    },
  );

  it.each([
    ['another type', 'text/csv', 'a,b', 'Send the body as application/json.'],
    ['too large', 'application/json', 'x'.repeat(70 * 1024), 'The body is larger than 64 KiB.'],
    ['no JSON', 'application/json', '{', 'The body is not valid JSON.'],
    ['nothing', 'application/json', '', 'The body is empty: send a JSON value, or no Content-Type.'],
  ])('one that is %s hears what to send', async (_what, type, body, hint) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const answer = await call(port, '/api/tags', { method: 'POST', headers, body });
    refusal(answer);
    expect((JSON.parse(answer.body) as { detail: string }).detail).toBe(hint);
  });

  it('one that poisons prototypes is harmless', async () => {
    const body = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect(['LEAF_NOT_FOUND', 'LEAF_BODY_INVALID']).toContain(
      await refused(path, { method: 'POST', headers: JSON_TYPE, body }),
    );
    expect('polluted' in {}).toBe(false);
  });

  it('one of a GET is left unread', async () => {
    expect(await text(port, path, { headers: { ...JSON_TYPE, 'content-length': 1 }, body: '{' })).toMatch(/^[1-9]\d*$/);
  });
});

describe('bytes on the socket', () => {
  async function refusedRaw(bytes: string): Promise<string> {
    return refusal(await rawCall(port, bytes));
  }

  const get = `GET /api/segment/get/${TAG}`;

  it.each([
    ['an unknown method', `FOO /api/segment/get/${TAG} HTTP/1.1\r\n${CLOSE}`],
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['HTTP/0.9', `${get}\r\n\r\n`],
    ['HTTP/3.0', `${get} HTTP/3.0\r\n${CLOSE}`],
    ['HTTP/x', `${get} HTTP/x\r\n${CLOSE}`],
    ['no Host', `${get} HTTP/1.1\r\nConnection: close\r\n\r\n`],
    ['a path with bytes beyond ASCII', `GET /api/segment/get/\xf0\x9f\x98\x80 HTTP/1.1\r\n${CLOSE}`],
    ['a path with a space', `GET /api/segment/get/a b HTTP/1.1\r\n${CLOSE}`],
    ['a header without a colon', `${get} HTTP/1.1\r\nnonsense\r\n${CLOSE}`],
    ['a header with a NUL', `${get} HTTP/1.1\r\nx: a\0b\r\n${CLOSE}`],
    ['a length that is no number', `POST / HTTP/1.1\r\nContent-Length: abc\r\n${CLOSE}`],
    ['two lengths', `POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n${CLOSE}`],
    ['a length and chunks', `POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n${CLOSE}0\r\n\r\n`],
  ])('%s is refused', async (_what, bytes) => {
    expect(await refusedRaw(bytes)).toBe('LEAF_REQUEST_INVALID');
  });

  it('a refusal waits for the answer to the request before it', async () => {
    const first = `GET /api/segment/range/${TAG}?size=50000 HTTP/1.1\r\nHost: leaf\r\n\r\n`;
    const { status, body } = await rawCall(port, `${first}${get} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    expect(status).toBe(200);
    expect(body).toContain('"ranges"');
    expect(body).toContain('HTTP/1.1 400');
  });

  it.each([
    ['an ID from memory', get],
    ['one that the framework gives', `GET /api/segment/range/${TAG}?size=50000`],
    ['a stream', 'GET /api/monitor/stream'],
  ])('what follows a request for %s is not answered in its place', async (_what, line) => {
    const { status, body } = await rawCall(port, `${line} HTTP/1.1\r\nHost: leaf\r\n\r\nnonsense\r\n\r\n`);
    // None, when it was not made yet: the connection ends.
    expect([0, 200]).toContain(status);
    expect(body).not.toContain('HTTP/1.1');
  });

  it('an ID that was given goes out before the connection ends', async () => {
    const { status, body } = await rawCall(port, `${get} HTTP/1.1\r\nHost: leaf\r\n\r\nnonsense\r\n\r\n`);
    expect([status, body]).toEqual([200, expect.stringMatching(/^[1-9]\d*$/)]);
  });

  it('a body that breaks off in nonsense is refused', async () => {
    const head = 'POST /api/tags HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked';
    expect(await refusedRaw(`${head}\r\n${CLOSE}1\r\n{\r\nnonsense\r\n`)).toBe('LEAF_REQUEST_INVALID');
  });

  it('an expectation that nobody can meet is refused', async () => {
    await refusedRaw(`${get} HTTP/1.1\r\nExpect: a-miracle\r\n${CLOSE}`);
  });

  it('20 KiB of headers are too large', async () => {
    expect(await refusedRaw(`GET / HTTP/1.1\r\nx: ${'a'.repeat(20 * 1024)}\r\n${CLOSE}`)).toBe(
      'LEAF_HEADERS_TOO_LARGE',
    );
    const many = Array.from({ length: 1000 }, (_, index) => `x-${index}: ${'y'.repeat(20)}`).join('\r\n');
    expect(await refusedRaw(`GET / HTTP/1.1\r\n${many}\r\n${CLOSE}`)).toBe('LEAF_HEADERS_TOO_LARGE');
  });

  it('20 KiB of path are too large', async () => {
    const code = await refusedRaw(`GET /${'a'.repeat(20 * 1024)} HTTP/1.1\r\n${CLOSE}`);
    expect(['LEAF_HEADERS_TOO_LARGE', 'LEAF_URL_TOO_LONG']).toContain(code);
  });

  it('paths that are none are no routes', async () => {
    for (const target of ['*', 'http://leaf', 'http://leaf/nothing', '?', 'leaf:80']) {
      const answer = await rawCall(port, `OPTIONS ${target} HTTP/1.1\r\n${CLOSE}`);
      expect(['LEAF_NOT_FOUND', 'LEAF_REQUEST_INVALID']).toContain(refusal(answer));
    }
  });

  it('an absolute URL is as good as a path', async () => {
    const { status, body } = await rawCall(port, `GET http://leaf/api/segment/get/${TAG} HTTP/1.1\r\n${CLOSE}`);
    expect(status).toBe(200);
    expect(body).toMatch(/^[1-9]\d*$/);
  });

  it('requests in one packet are answered in order', async () => {
    const one = `${get} HTTP/1.1\r\nHost: leaf\r\n\r\n`;
    const bad = 'GET /api/segment/get/%20 HTTP/1.1\r\nHost: leaf\r\n\r\n';
    const { body } = await rawCall(port, `${one}${bad}${one}${get} HTTP/1.1\r\n${CLOSE}`);
    const statuses = `HTTP/1.1 200 OK\r\n\r\n${body}`.match(/HTTP\/1\.1 \d{3}/g);
    expect(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 200', 'HTTP/1.1 200']);
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
        if (answer.status >= 400) refusal(answer);
        expect(answer.body).not.toBe('0');
      }),
      { numRuns: 300 },
    );
  });
});
