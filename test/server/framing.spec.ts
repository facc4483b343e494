import { rawCall } from '../support/http';
import { startTestServer, type TestServer } from '../support/server';

const TAG = 'leaf-segment-test';
/** A head that is answered ahead of the framework, one that the framework answers, and one that reads a body. */
const HEADS = {
  fast: `GET /api/segment/get/${TAG} HTTP/1.1\r\nHost: leaf\r\n`,
  ordinary: `GET /api/segment/batch/${TAG} HTTP/1.1\r\nHost: leaf\r\n`,
  posted: 'POST /api/tags HTTP/1.1\r\nHost: leaf\r\nContent-Type: application/json\r\n',
} as const;
/** What somebody would slip in: its answer has a code that no other one has. */
const SMUGGLED = 'GET /api/segment/get/smuggled HTTP/1.1\r\nHost: leaf\r\n\r\n';
const MARK = 'LEAF_TAG_NOT_FOUND';
const LAST = 'GET /api/snowflake/get/order HTTP/1.1\r\nHost: leaf\r\nConnection: close\r\n\r\n';

let server: TestServer;
beforeAll(async () => (server = await startTestServer()));
afterAll(() => server.stop());

/** The statuses of all answers that come to these bytes, and everything that was said. */
async function answersTo(bytes: string): Promise<{ readonly statuses: readonly number[]; readonly text: string }> {
  const { status, headers, body } = await rawCall(server.port, bytes);
  const text = `HTTP/1.1 ${status} x\r\n${JSON.stringify(headers)}\r\n\r\n${body}`;
  return { statuses: Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), (match) => Number(match[1])), text };
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
    ['a name with a space', 'X Y: a\r\n\r\n'],
    ['a name with a NUL', 'X\0Y: a\r\n\r\n'],
    ['no name', ': a\r\n\r\n'],
  ])('with %s is refused, and nothing after it is read', async (_what, rest) => {
    const { statuses, text } = await answersTo(head + rest + SMUGGLED);
    expect(statuses).toEqual([400]);
    expect(text).toContain('LEAF_REQUEST_INVALID');
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
    ['bare line feeds', `GET /api/segment/get/${TAG} HTTP/1.1\nHost: leaf\n\n`],
    ['tabs', `GET\t/api/segment/get/${TAG}\tHTTP/1.1\r\nHost: leaf\r\n\r\n`],
    ['the version 1.2', `GET /api/segment/get/${TAG} HTTP/1.2\r\nHost: leaf\r\n\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('with %s is refused', async (_what, bytes) => {
    const { statuses, text } = await answersTo(bytes + SMUGGLED);
    expect(statuses).toEqual([400]);
    expect(text).not.toContain(MARK);
  });

  it('asks for no tunnel', async () => {
    const { statuses, text } = await answersTo(`CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: leaf\r\n\r\n${SMUGGLED}`);
    expect(statuses).toEqual([]);
    expect(text).not.toContain(MARK);
  });

  it.each(['http://leaf', 'http://somebody:secret@elsewhere:99', 'HTTP://LEAF:80'])(
    'that begins with %s reaches the routes of this server, each with its own guard',
    async (origin) => {
      const ask = (method: string, path: string): Promise<{ readonly statuses: readonly number[] }> =>
        answersTo(`${method} ${origin}${path} HTTP/1.1\r\nHost: leaf\r\nConnection: close\r\n\r\n`);
      expect((await ask('GET', `/api/segment/get/${TAG}`)).statuses).toEqual([200]);
      expect((await ask('DELETE', `/api/tags/${TAG}`)).statuses).toEqual([401]);
      expect((await ask('POST', '/api/server/drain')).statuses).toEqual([401]);
    },
  );
});

describe('many requests in one packet', () => {
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
