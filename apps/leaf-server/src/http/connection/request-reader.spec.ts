import { RequestReader } from './request-reader';

const HEADERS = 'Host: leaf\r\nAccept: */*\r\n';
const PLAIN = `GET /api/segment/get/order HTTP/1.1\r\n${HEADERS}\r\n`;

function read(text: string, begin = 0): ReturnType<RequestReader['read']> {
  return new RequestReader().read(text, begin);
}

describe('RequestReader', () => {
  it('reads a plain request, with what is before and behind it', () => {
    expect(read(PLAIN)).toEqual({
      url: '/api/segment/get/order',
      head: { rawHeaders: ['Host', 'leaf', 'Accept', '*/*'], headers: { host: 'leaf', accept: '*/*' } },
      end: PLAIN.length,
    });
    expect(read(`\n\n${PLAIN}GET`, 2)).toMatchObject({ end: PLAIN.length + 2 });
  });

  it('reads the header block that it knows by comparing it, and no longer one', () => {
    const reader = new RequestReader();
    const first = reader.read(PLAIN, 0);
    expect(reader.read(PLAIN.replace('order', 'invoice'), 0)?.head).toBe(first?.head);
    const other = reader.read(PLAIN.replace('\r\n\r\n', '\r\nX-Request-Id: 7\r\n\r\n'), 0);
    expect(other?.head.headers).toEqual({ host: 'leaf', accept: '*/*', 'x-request-id': '7' });
    expect(reader.read(PLAIN, 0)?.head.rawHeaders).toEqual(first?.head.rawHeaders);
  });

  it.each([
    ['Connection: keep-alive', 'keep-alive'],
    ['connection: Keep-Alive', 'Keep-Alive'],
    ['Connection:keep-alive \t', 'keep-alive'],
  ])('reads %j', (line, value) => {
    expect(read(PLAIN.replace('Accept: */*', line))?.head.headers).toEqual({ host: 'leaf', connection: value });
  });

  it.each([
    ['another method', PLAIN.replace('GET', 'HEAD')],
    ['a method in lower case', PLAIN.replace('GET', 'get')],
    ['an older version', PLAIN.replace('1.1', '1.0')],
    ['another version', PLAIN.replace('1.1', '1.11')],
    ['two spaces', PLAIN.replace(' HTTP', '  HTTP')],
    ['a tab', PLAIN.replace(' HTTP', '\tHTTP')],
    ['a whole URL', PLAIN.replace('GET /', 'GET http://leaf/')],
    ['a fragment', PLAIN.replace('order', 'order#1')],
    ['a byte above 127 in the URL', PLAIN.replace('order', 'ord\xe9r')],
    ['no header', 'GET /api/segment/get/order HTTP/1.1\r\n\r\n'],
    ['no host', PLAIN.replace('Host', 'Hast')],
    ['two hosts', PLAIN.replace('Accept: */*', 'hOST: leaf')],
    ['a length', PLAIN.replace('Accept: */*', 'Content-Length: 0')],
    ['a coding', PLAIN.replace('Accept: */*', 'Transfer-Encoding: chunked')],
    ['an upgrade', PLAIN.replace('Accept: */*', 'Upgrade: h2c')],
    ['an expectation', PLAIN.replace('Accept: */*', 'Expect: 100-continue')],
    ['the end of the connection', PLAIN.replace('Accept: */*', 'Connection: close')],
    ['a list of options', PLAIN.replace('Accept: */*', 'Connection: keep-alive, upgrade')],
    ['one header twice', PLAIN.replace('Accept: */*', 'X: 1\r\nx: 2')],
    ['a folded line', PLAIN.replace('*/*', 'text/plain,\r\n */*')],
    ['a space before the colon', PLAIN.replace('Accept:', 'Accept :')],
    ['a line without a colon', PLAIN.replace('Accept: */*', 'Accept')],
    ['an empty name', PLAIN.replace('Accept', '')],
    ['a bare line feed', PLAIN.replace('*/*\r\n', '*/*\n')],
    ['a bare carriage return', PLAIN.replace('*/*', '*\r*')],
    ['a bare line feed at the end', PLAIN.replace('\r\n\r\n', '\r\n\n')],
    ['NUL', PLAIN.replace('*/*', '*/\0')],
    ['a byte above 127', PLAIN.replace('*/*', 'caf\xe9')],
    ['a head that is not complete', PLAIN.slice(0, -1)],
    ['no more than a line', 'GET /api/segment/get/order HTTP/1.1\r\n'],
    ['a part of a line', 'GET /api/segm'],
    ['nothing', ''],
    [
      'more than 100 headers',
      PLAIN.replace('Accept: */*', Array.from({ length: 100 }, (_, n) => `X${n}: 1`).join('\r\n')),
    ],
    ['more than 8 KiB', PLAIN.replace('*/*', 'x'.repeat(8192))],
  ])('leaves %s to Node.js', (_, text) => {
    expect(read(text)).toBeUndefined();
  });
  it('leaves a long request to Node.js, also behind one with the same headers', () => {
    const reader = new RequestReader();
    expect(reader.read(PLAIN, 0)).toBeDefined();
    expect(reader.read(PLAIN.replace('order', 'o'.repeat(8192)), 0)).toBeUndefined();
  });

  it('reads a line that it refuses in the time of one that it takes', () => {
    const time = (value: string): number => {
      const text = PLAIN.replace('*/*', value);
      const begunAt = process.hrtime.bigint();
      for (let reads = 0; reads < 50; reads++) new RequestReader().read(text, 0);
      return Number(process.hrtime.bigint() - begunAt);
    };
    time('x');
    expect(time(`${' '.repeat(8000)}\x01`)).toBeLessThan(100 * time('x'.repeat(8000)));
  });
});
