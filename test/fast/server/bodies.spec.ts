import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { type Answer, call, json, rawCall, text } from '../../support/http/http';
import { problemCode, refusalCode } from '../../support/http/problem';
import { expectServing } from '../../support/servers/serving';
import { startTestServer, type TestServer } from '../../support/servers/server';

const GET = '/api/segment/get/leaf-segment-test';

let server: TestServer;
beforeAll(async () => (server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN })));
afterAll(() => server.stop());

/** Whatever was sent, no prototype has changed and the next change is made. */
afterEach(async () => {
  expect(Object.keys(Object.prototype)).toStrictEqual([]);
  expect('polluted' in {}).toBe(false);
  expect((await admin(server.port, 'PATCH', '/api/tags/leaf-segment-test', { step: 2000 })).status).toBe(200);
  await expectServing(server.port);
});

/** Sends bytes as they are. */
function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const bytes = Buffer.from(body as string);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        port: server.port,
        host: '127.0.0.1',
        path: '/api/tags',
        method: 'POST',
        headers: {
          authorization: `Bearer ${ADMIN_TOKEN}`,
          'content-type': 'application/json',
          'content-length': bytes.length,
          ...headers,
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const { statusCode = 0, headers: answered } = response;
          resolve({ status: statusCode, headers: answered, body: Buffer.concat(parts).toString() });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

async function tagsNow(): Promise<string[]> {
  return (await json<{ tag: string }[]>(server.port, '/api/tags')).map(({ tag }) => tag);
}

describe('a body', () => {
  const nested = (open: string, inner: string, close: string, depth: number): string =>
    open.repeat(depth) + inner + close.repeat(depth);

  it.each([
    ['60,000 open brackets', '['.repeat(60_000)],
    ['lists in lists, 30,000 deep', nested('[', '', ']', 30_000)],
    ['objects in objects, 10,000 deep', nested('{"a":', '1', '}', 10_000)],
    ['a description of lists, 30,000 deep', `{"tag":"bomb","step":1,"description":${nested('[', '', ']', 30_000)}}`],
    ['a list of 30,000 numbers', `[${Array(30_000).fill(1).join(',')}]`],
    ['a tag that is a list of 10,000', `{"step":1,"tag":[${Array(10_000).fill('"a"').join(',')}]}`],
    ['6,000 properties', `{"tag":"bomb","step":1,${Array.from({ length: 6000 }, (_, n) => `"p${n}":1`).join(',')}}`],
    ['a number of 400 digits', `{"tag":"bomb","step":1${'0'.repeat(400)}}`],
    ['a number beyond all numbers', '{"tag":"bomb","step":1e400}'],
    ['a number that is too small', '{"tag":"bomb","step":1e-400}'],
    ['NaN', '{"tag":"bomb","step":NaN}'],
    ['a maxId of 60,000 digits', `{"tag":"bomb","step":1,"maxId":"${'9'.repeat(60_000)}"}`],
    ['a description of 60,000 characters', `{"tag":"bomb","step":1,"description":"${'x'.repeat(60_000)}"}`],
    ['a tag of 60,000 characters', `{"tag":"${'x'.repeat(60_000)}","step":1}`],
    ['a comma too many', '{"tag":"bomb","step":1,}'],
    ['a bracket', '{'],
    ['a property without its end', '{"tag":'],
    ['a property without a value', '{"a":}'],
    ['a value and a comma', 'null,'],
    ['nonsense', 'nonsense'],
    ['more behind its end', '{"tag":"bomb","step":1}{}'],
    ['a lone surrogate', '{"tag":"bomb","step":1,"description":"\\ud800"}'],
    ['__proto__', '{"tag":"bomb","step":1,"__proto__":{"polluted":true}}'],
    ['__proto__ in escapes', '{"tag":"bomb","step":1,"\\u005f\\u005fproto__":{"polluted":true}}'],
    ['__proto__ as the whole', '{"__proto__":{"tag":"bomb","step":1}}'],
    ['a prototype of its constructor', '{"tag":"bomb","step":1,"constructor":{"prototype":{"polluted":true}}}'],
    ['a constructor', '{"tag":"bomb","step":1,"constructor":"x"}'],
    ['a prototype', '{"tag":"bomb","step":1,"prototype":{"polluted":true}}'],
    ['__defineGetter__', '{"tag":"bomb","step":1,"__defineGetter__":"polluted"}'],
    ['toJSON', '{"tag":"bomb","step":1,"toJSON":"x"}'],
    ['a tag with a toString of its own', '{"tag":{"toString":"bomb"},"step":1}'],
  ])('of %s is refused, in few words', async (_what, body) => {
    const answer = await post(body);
    expect(['LEAF_BODY_INVALID', 'LEAF_TAG_INVALID']).toContain(problemCode(answer));
    expect(answer.body.length).toBeLessThan(2000);
    expect(await tagsNow()).not.toContain('bomb');
  });

  it.each([
    [
      'in UTF-16',
      { 'content-type': 'application/json; charset=utf-16le' },
      Buffer.from('{"tag":"x","step":1}', 'utf16le'),
    ],
    ['in Latin-1', { 'content-type': 'application/json;charset="iso-8859-1"' }, '{"tag":"x","step":1}'],
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync('{"tag":"x","step":1}')],
    ['called compressed', { 'content-encoding': 'br' }, '{"tag":"x","step":1}'],
    ['of a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'tag=x&step=1'],
    ['of many parts', { 'content-type': 'multipart/form-data; boundary=x' }, '{}'],
    ['of XML', { 'content-type': 'application/xml' }, '<tag/>'],
    ['of an unknown type', { 'content-type': 'text/weird' }, '{}'],
    ['of a type without a slash', { 'content-type': 'garbage' }, '{}'],
    ['of a type without a name', { 'content-type': '/;;=' }, '{}'],
    ['of plain text', { 'content-type': 'text/plain' }, '{"tag":"x","step":1}'],
    ['of a patch', { 'content-type': 'application/merge-patch+json' }, '{"tag":"x","step":1}'],
    ['of two types', { 'content-type': 'application/json, text/plain' }, '{"tag":"x","step":1}'],
  ])('%s is not read', async (_what, headers, body) => {
    expect(problemCode(await post(body, headers))).toBe('LEAF_MEDIA_TYPE_UNSUPPORTED');
    expect(await tagsNow()).not.toContain('x');
  });

  it.each([
    ['a byte of Latin-1', Buffer.from('{"tag":"x","step":1,"description":"\xe9"}', 'latin1')],
    ['a character in too many bytes', Buffer.from('{"tag":"x","step":1,"description":"\xc0\xaf"}', 'latin1')],
    ['half a character', Buffer.from('{"tag":"x","step":1,"description":"\xf0\x9f\x98"}', 'latin1')],
  ])('with %s is refused, and not mended', async (_what, body) => {
    expect(problemCode(await post(body))).toBe('LEAF_BODY_INVALID');
    expect(await tagsNow()).not.toContain('x');
  });

  it.each([
    ['another type', 'text/csv', 'a,b', 'LEAF_MEDIA_TYPE_UNSUPPORTED', 'Send the body as application/json.'],
    ['too large', 'application/json', 'x'.repeat(70 * 1024), 'LEAF_BODY_TOO_LARGE', 'The body is larger than 64 KiB.'],
    ['no JSON', 'application/json', '{', 'LEAF_BODY_INVALID', 'The body is not valid JSON.'],
    [
      'nothing',
      'application/json',
      '',
      'LEAF_BODY_INVALID',
      'The body is empty. Send a JSON value, or omit Content-Type.',
    ],
  ])('that is %s hears what to send', async (_what, type, body, code, hint) => {
    const answer = await post(body, { 'content-type': type });
    expect(refusalCode(answer)).toBe(code);
    expect((JSON.parse(answer.body) as { detail: string }).detail).toBe(hint);
  });

  it('that there is not, with a type or without, is refused', async () => {
    expect(problemCode(await admin(server.port, 'POST', '/api/tags'))).toBe('LEAF_BODY_INVALID');
  });

  it.each(['POST /api/tags', 'PATCH /api/tags/leaf-segment-test', 'DELETE /api/server/drain'])(
    'without a length is empty: %s',
    async (what) => {
      const lines = [`${what} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${ADMIN_TOKEN}`];
      lines.push('Content-Type: application/json', 'Connection: close');
      const answer = await rawCall(server.port, `${lines.join('\r\n')}\r\n\r\n`);
      expect(problemCode(answer)).toBe('LEAF_BODY_INVALID');
      expect(answer.body).toContain('The body is empty.');
    },
  );

  it('of 70 KiB that does not say its length is too large', async () => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const body = JSON.stringify('x'.repeat(70 * 1024));
    const post = (token: object): Promise<Answer> =>
      call(server.port, '/api/tags', { method: 'POST', headers: { ...headers, ...token }, body });
    expect(refusalCode(await post({ authorization: `Bearer ${ADMIN_TOKEN}` }))).toBe('LEAF_BODY_TOO_LARGE');
    // The token is checked before the body is read.
    expect(refusalCode(await post({}))).toBe('LEAF_UNAUTHORIZED');
  });

  it.each([
    ['no JSON', 'application/json', '{'],
    ['empty', 'application/json', ''],
    ['too large', 'application/json', 'x'.repeat(70 * 1024)],
    ['of another type', 'text/weird', '{}'],
    ['harmful', 'application/json', '{"__proto__":{"polluted":true}}'],
  ])('that is %s is left unread where no route takes it', async (_what, type, body) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const post = (path: string): Promise<Answer> => call(server.port, path, { method: 'POST', headers, body });
    expect(refusalCode(await post(GET))).toBe('LEAF_METHOD_NOT_ALLOWED');
    expect(refusalCode(await post('/nothing'))).toBe('LEAF_NOT_FOUND');
  });

  it('of a GET is left unread', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': 1 };
    expect(await text(server.port, GET, { headers, body: '{' })).toMatch(/^[1-9]\d*$/);
  });

  it('says one thing twice: the last counts, as JSON is read everywhere', async () => {
    const answer = await post('{"tag":"twice","step":1,"step":7}', {
      'content-type': 'application/json; charset=UTF-8',
    });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([201, expect.objectContaining({ step: 7 })]);
  });
});
