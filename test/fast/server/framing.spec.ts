import { ADMIN_TOKEN } from '../../support/http/admin';
import { type Answer, rawCall } from '../../support/http/http';
import { freshMetrics } from '../../support/http/metrics';
import { refusalCode } from '../../support/http/problem';
import { expectServing } from '../../support/servers/serving';
import { startTestServer, type TestServer } from '../../support/servers/server';

const TAG = 'leaf-segment-test';
/** A head that is answered ahead of the framework, one that the framework answers, and one that reads a body. */
const HEADS = {
  fast: `GET /api/segment/get/${TAG} HTTP/1.1\r\nHost: leaf\r\n`,
  ordinary: `GET /api/segment/batch/${TAG} HTTP/1.1\r\nHost: leaf\r\n`,
  posted: `POST /api/tags HTTP/1.1\r\nHost: leaf\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Type: application/json\r\n`,
} as const;
/** What somebody would slip in: its answer has a code that no other one has. */
const SMUGGLED = 'GET /api/segment/get/smuggled HTTP/1.1\r\nHost: leaf\r\n\r\n';
const MARK = 'LEAF_TAG_NOT_FOUND';
const CLOSE = 'Host: leaf\r\nConnection: close\r\n\r\n';
const LAST = `GET /api/snowflake/get/order HTTP/1.1\r\n${CLOSE}`;

let server: TestServer;
beforeAll(async () => (server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN })));
afterEach(() => expectServing(server.port));
afterAll(() => server.stop());

interface Answers {
  /** The first one, with all that follows it. */
  readonly answer: Answer;
  readonly statuses: readonly number[];
  readonly text: string;
}

/** The statuses of all answers that come to these bytes, and everything that was said. */
async function answersTo(bytes: string): Promise<Answers> {
  const answer = await rawCall(server.port, bytes);
  const text = `HTTP/1.1 ${answer.status} x\r\n${JSON.stringify(answer.headers)}\r\n\r\n${answer.body}`;
  return { answer, statuses: Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), (match) => Number(match[1])), text };
}

async function refused(bytes: string): Promise<string> {
  return refusalCode(await rawCall(server.port, bytes));
}

describe.each(Object.entries(HEADS))('a request that is %s', (name, head) => {
  const own = name === 'posted' ? 400 : 200;

  it.each([
    ['with a length', `Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`],
    [
      'in chunks with an extension',
      `Transfer-Encoding: chunked\r\n\r\n${SMUGGLED.length.toString(16)};a=b\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    ],
  ])('takes its body %s for its body, and the next request for the next', async (_what, rest) => {
    const { statuses, text } = await answersTo(head + rest + LAST);
    // What reads a body may end the connection after one that it refuses.
    expect(statuses.slice(0, 2)).toEqual(name === 'posted' && statuses.length === 1 ? [own] : [own, 200]);
    expect(text).not.toContain(MARK);
  });

  it.each([
    ['a length and chunks', `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks and a length', `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`],
    ['two lengths', `Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n`],
    ['one length twice', `Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
    ['a list of lengths', 'Content-Length: 0, 0\r\n\r\n'],
    ['a length that is no number', 'Content-Length: abc\r\n\r\n'],
    ['a length with a sign', 'Content-Length: +0\r\n\r\n'],
    ['a negative length', 'Content-Length: -1\r\n\r\n'],
    ['a hexadecimal length', 'Content-Length: 0x0\r\n\r\n'],
    ['a length beyond 2^64', 'Content-Length: 18446744073709551616\r\n\r\n'],
    ['an empty length', 'Content-Length:\r\n\r\n'],
    ['a space before the colon of a length', 'Content-Length : 0\r\n\r\n'],
    ['a space before the colon of an encoding', 'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
    ['an encoding that nobody knows', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['an encoding in quotes', 'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n'],
    ['an encoding with a parameter', 'Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n'],
    ['the encoding identity', 'Transfer-Encoding: identity\r\n\r\n'],
    ['chunks within another encoding', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['chunks within chunks', 'Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n'],
    ['chunks that are not the last encoding', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['two encodings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n'],
    ['a vertical tab before an encoding', 'Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n'],
    ['an encoding in a folded line', 'Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n'],
    ['a folded line', 'X: a\r\n b\r\n\r\n'],
    ['a line that ends in a bare line feed', 'X: a\nContent-Length: 0\r\n\r\n'],
    ['a head that ends in a bare line feed', 'X: a\r\n\n'],
    ['a bare carriage return', 'X: a\rContent-Length: 0\r\n\r\n'],
    ['a value with a NUL', 'X: a\0b\r\n\r\n'],
    ['a line without a colon', 'nonsense\r\n\r\n'],
    ['a name with a space', 'X Y: a\r\n\r\n'],
    ['a name with a NUL', 'X\0Y: a\r\n\r\n'],
    ['no name', ': a\r\n\r\n'],
  ])('with %s is refused, and nothing after it is read', async (_what, rest) => {
    const { statuses, answer } = await answersTo(head + rest + SMUGGLED);
    expect(statuses).toEqual([400]);
    expect(refusalCode(answer)).toBe('LEAF_REQUEST_INVALID');
  });

  it.each([
    ['a size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a space', '5 \r\nhello\r\n0\r\n\r\n'],
    ['a size beyond 2^64', 'FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n'],
    ['a size that ends in a bare line feed', '5\nhello\r\n0\r\n\r\n'],
    ['an extension that ends in a bare line feed', '5;a\nhello\r\n0\r\n\r\n'],
    ['an extension whose quotes do not end', '5;a="\r\nhello\r\n0\r\n\r\n'],
    ['an extension of 20 KiB', `5;${'a'.repeat(20_480)}\r\nhello\r\n0\r\n\r\n`],
    ['data that ends in a bare line feed', '5\r\nhello\n0\r\n\r\n'],
    ['more data than its size', '5\r\nhello world\r\n0\r\n\r\n'],
  ])('with a chunk of %s is the last of its connection', async (_what, rest) => {
    const { statuses, text } = await answersTo(`${head}Transfer-Encoding: chunked\r\n\r\n${rest}${SMUGGLED}`);
    expect(text).not.toContain(MARK);
    // An ID that was given before the chunk was read goes out; then there is one refusal, or none.
    expect([[own], [own, 400], [400], []]).toContainEqual(statuses);
  });

  it('in HTTP/1.0 has no chunks', async () => {
    const old = head.replace('HTTP/1.1', 'HTTP/1.0');
    const rest = 'Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect((await answersTo(old + rest + SMUGGLED)).statuses).toEqual([400]);
  });
});

describe('a request line', () => {
  it.each([
    ['an unknown method', `FOO /api/segment/get/${TAG} HTTP/1.1\r\nHost: leaf\r\n\r\n`],
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['HTTP/0.9', `GET /api/segment/get/${TAG}\r\n\r\n`],
    ['HTTP/3.0', `GET /api/segment/get/${TAG} HTTP/3.0\r\nHost: leaf\r\n\r\n`],
    ['HTTP/x', `GET /api/segment/get/${TAG} HTTP/x\r\nHost: leaf\r\n\r\n`],
    ['no Host', `GET /api/segment/get/${TAG} HTTP/1.1\r\n\r\n`],
    ['two Hosts', `GET /api/segment/get/${TAG} HTTP/1.1\r\nHost: leaf\r\nhOST: other\r\n\r\n`],
    ['one Host twice', `GET /api/segment/batch/${TAG} HTTP/1.1\r\nHost: leaf\r\nX: y\r\nHost: leaf\r\n\r\n`],
    ['two Hosts in HTTP/1.0', `GET /api/segment/get/${TAG} HTTP/1.0\r\nHost: leaf\r\nHost: other\r\n\r\n`],
    ['a path with bytes beyond ASCII', `GET /api/segment/get/\xf0\x9f\x98\x80 HTTP/1.1\r\nHost: leaf\r\n\r\n`],
    ['a path with a space', `GET /api/segment/get/a b HTTP/1.1\r\nHost: leaf\r\n\r\n`],
    ['bare line feeds', `GET /api/segment/get/${TAG} HTTP/1.1\nHost: leaf\n\n`],
    ['tabs', `GET\t/api/segment/get/${TAG}\tHTTP/1.1\r\nHost: leaf\r\n\r\n`],
    ['the version 1.2', `GET /api/segment/get/${TAG} HTTP/1.2\r\nHost: leaf\r\n\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('with %s is refused', async (_what, bytes) => {
    const { statuses, answer } = await answersTo(bytes + SMUGGLED);
    expect(statuses).toEqual([400]);
    expect(refusalCode(answer)).toBe('LEAF_REQUEST_INVALID');
  });

  it('that is refused is counted, with its status', async () => {
    const count = async (status: number): Promise<number> => {
      const line = new RegExp(`^leaf_http_requests_total\\{route="invalid",status="${status}"\\} (\\d+)$`, 'm');
      return Number(line.exec(await freshMetrics(server.port))?.[1] ?? 0);
    };
    const [bad, large] = [await count(400), await count(431)];
    await answersTo('hello\r\n\r\n');
    await answersTo(`GET /api/segment/get/${TAG} HTTP/1.1\r\n\r\n`);
    await answersTo('GET /api/segment/get/%zz HTTP/1.1\r\nHost: leaf\r\nConnection: close\r\n\r\n');
    await answersTo(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: leaf\r\n\r\n`);
    expect([await count(400), await count(431)]).toEqual([bad + 3, large + 1]);
  });

  it('asks for no tunnel', async () => {
    const { statuses, text } = await answersTo(`CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: leaf\r\n\r\n${SMUGGLED}`);
    expect(statuses).toStrictEqual([]);
    expect(text).not.toContain(MARK);
  });

  it.each(['http://leaf', 'http://somebody:secret@elsewhere:99', 'HTTP://LEAF:80'])(
    'that begins with %s reaches the routes of this server, each with its own guard',
    async (origin) => {
      const ask = (method: string, path: string): Promise<Answers> =>
        answersTo(`${method} ${origin}${path} HTTP/1.1\r\nHost: leaf\r\nConnection: close\r\n\r\n`);
      const { statuses, text } = await ask('GET', `/api/segment/get/${TAG}`);
      expect(statuses).toEqual([200]);
      expect(text).toMatch(/\r\n\r\n[1-9]\d*$/);
      expect((await ask('DELETE', `/api/tags/${TAG}`)).statuses).toEqual([401]);
      expect((await ask('POST', '/api/server/drain')).statuses).toEqual([401]);
    },
  );
});

describe('many requests in one packet', () => {
  it('are answered in their order, with a refusal among them', async () => {
    const bad = 'GET /api/segment/get/%20 HTTP/1.1\r\nHost: leaf\r\n\r\n';
    const one = `${HEADS.fast}\r\n`;
    expect((await answersTo(one + bad + one + LAST)).statuses).toEqual([200, 400, 200, 200]);
  });

  it('are answered in their order, whichever route answers', async () => {
    const lines = Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? HEADS.ordinary : HEADS.fast));
    const bodies = lines.map(
      (head, n) =>
        `${head}${n % 2 === 0 ? '' : `Content-Length: ${SMUGGLED.length}\r\n`}\r\n${n % 2 === 0 ? '' : SMUGGLED}`,
    );
    const { statuses, text } = await answersTo(bodies.join('') + LAST);
    expect(statuses).toEqual(Array(61).fill(200));
    expect(text).not.toContain(MARK);
    const kinds = Array.from(
      text.matchAll(/"?content-type"?: ?"?(text\/plain|application\/json)/g),
      (match) => match[1],
    );
    expect(kinds).toEqual([
      ...lines.map((head) => (head === HEADS.fast ? 'text/plain' : 'application/json')),
      'text/plain',
    ]);
  });
});

describe('bytes on the socket', () => {
  const get = `GET /api/segment/get/${TAG}`;

  it('a refusal waits for the answer to the request before it', async () => {
    const first = `GET /api/segment/range/${TAG}?size=50000 HTTP/1.1\r\nHost: leaf\r\n\r\n`;
    const { status, body } = await rawCall(server.port, `${first}${get} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    expect(status).toBe(200);
    expect(body).toContain('"ranges"');
    expect(body).toContain('HTTP/1.1 400');
  });

  it.each([
    ['an ID from memory', get],
    ['one that the framework gives', `GET /api/segment/range/${TAG}?size=50000`],
    ['a stream', 'GET /api/monitor/stream'],
  ])('what follows a request for %s is not answered in its place', async (_what, line) => {
    const { status, body } = await rawCall(server.port, `${line} HTTP/1.1\r\nHost: leaf\r\n\r\nnonsense\r\n\r\n`);
    // None, when it was not made yet: the connection ends.
    expect([0, 200]).toContain(status);
    expect(body).not.toContain('HTTP/1.1');
  });

  it('an ID that was given goes out before the connection ends', async () => {
    const { status, body } = await rawCall(server.port, `${get} HTTP/1.1\r\nHost: leaf\r\n\r\nnonsense\r\n\r\n`);
    expect([status, body]).toEqual([200, expect.stringMatching(/^[1-9]\d*$/)]);
  });

  it('a body that breaks off in nonsense is refused', async () => {
    const head = `POST /api/tags HTTP/1.1\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked`;
    expect(await refused(`${head}\r\n${CLOSE}1\r\n{\r\nnonsense\r\n`)).toBe('LEAF_REQUEST_INVALID');
  });

  it('an expectation that nobody can meet is refused', async () => {
    await refused(`${get} HTTP/1.1\r\nExpect: a-miracle\r\n${CLOSE}`);
  });

  it('20 KiB of headers are too large', async () => {
    expect(await refused(`GET / HTTP/1.1\r\nx: ${'a'.repeat(20 * 1024)}\r\n${CLOSE}`)).toBe('LEAF_HEADERS_TOO_LARGE');
    const many = Array.from({ length: 1000 }, (_, index) => `x-${index}: ${'y'.repeat(20)}`).join('\r\n');
    expect(await refused(`GET / HTTP/1.1\r\n${many}\r\n${CLOSE}`)).toBe('LEAF_HEADERS_TOO_LARGE');
  });

  it('more than 100 headers are too many, however short, and 100 are not', async () => {
    const headers = (count: number): string => Array.from({ length: count }, (_, index) => `x${index}:1\r\n`).join('');
    const other = CLOSE.split('\r\n').filter((line) => line !== '').length;
    const { status } = await rawCall(server.port, `${get} HTTP/1.1\r\n${headers(100 - other)}${CLOSE}`);
    expect(status).toBe(200);
    for (const count of [101 - other, 1900]) {
      expect(await refused(`${get} HTTP/1.1\r\n${headers(count)}${CLOSE}`)).toBe('LEAF_HEADERS_TOO_LARGE');
    }
  });

  it('20 KiB of path are too large', async () => {
    const code = await refused(`GET /${'a'.repeat(20 * 1024)} HTTP/1.1\r\n${CLOSE}`);
    expect(['LEAF_HEADERS_TOO_LARGE', 'LEAF_URL_TOO_LONG']).toContain(code);
  });

  it('paths that are none are no routes', async () => {
    for (const target of ['*', 'http://leaf', 'http://leaf/nothing', '?', 'leaf:80']) {
      const answer = await rawCall(server.port, `OPTIONS ${target} HTTP/1.1\r\n${CLOSE}`);
      expect(['LEAF_NOT_FOUND', 'LEAF_REQUEST_INVALID']).toContain(refusalCode(answer));
    }
  });
});
