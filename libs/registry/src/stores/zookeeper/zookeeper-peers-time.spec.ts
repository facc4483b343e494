import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { isServerUrl } from '@leaf-ids/core/internal';
import { askTime } from './zookeeper-peers';

const NOW = 1_732_000_000_000;

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
});

/** Starts a server with this response, and returns its URL. */
async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('askTime', () => {
  it.each(['', '/'])('asks the server at "%s" for its time', async (end) => {
    const url = await serve((request, response) => {
      const known = request.method === 'GET' && request.url === '/api/internal/time';
      response.writeHead(known ? 200 : 404).end(JSON.stringify({ now: NOW }));
    });
    expect(await askTime(`${url}${end}`, new SystemClock())).toBe(NOW);
  });

  it.each([
    ['a status', (): [number, string] => [503, JSON.stringify({ now: NOW })]],
    ['no JSON', (): [number, string] => [200, 'now']],
    ['null', (): [number, string] => [200, 'null']],
    ['text for a time', (): [number, string] => [200, JSON.stringify({ now: String(NOW) })]],
    ['a fraction', (): [number, string] => [200, JSON.stringify({ now: 0.5 })]],
    ['a negative time', (): [number, string] => [200, JSON.stringify({ now: -NOW })]],
    ['too much', (): [number, string] => [200, `{"now":${NOW}}${' '.repeat(2000)}`]],
  ])('fails for %s', async (_what, answer) => {
    const url = await serve((_request, response) => {
      const [status, body] = answer();
      response.writeHead(status).end(body);
    });
    await expect(askTime(url, new SystemClock())).rejects.toThrow();
  });

  it('does not follow to another address', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/elsewhere') response.end(JSON.stringify({ now: NOW }));
      else response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await expect(askTime(url, new SystemClock())).rejects.toThrow();
  });

  it('does not read without end, and hangs up', async () => {
    let hungUp: Promise<unknown> = Promise.resolve();
    const url = await serve((_request, response) => {
      hungUp = once(response, 'close');
      const pour = (): void => {
        while (response.write(' '.repeat(1000)));
      };
      response.on('drain', pour);
      pour();
    });
    await expect(askTime(url, new SystemClock())).rejects.toThrow(/more than 1024 bytes/);
    await hungUp;
  });

  it('fails if no server listens', async () => {
    const url = await serve(() => undefined);
    server!.close();
    await once(server!, 'close');
    server = undefined;
    await expect(askTime(url, new SystemClock())).rejects.toThrow();
  });

  it.each(['header', 'body'])('fails after a second without a %s, and hangs up', async (what) => {
    const clock = new FakeClock();
    let asked: (socket: Socket) => void = () => undefined;
    const asking = new Promise<Socket>((resolve) => (asked = resolve));
    const url = await serve((request, response) => {
      if (what === 'body') response.writeHead(200).write('{');
      asked(request.socket);
    });
    const failed = askTime(url, clock).then(undefined, (error: unknown) => error);
    const socket = await asking;
    const hungUp = once(socket, 'close');
    await clock.advance(999);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(await failed).toMatchObject({ message: expect.stringContaining('within 1000 ms') });
    await hungUp;
    expect(clock.sleeping).toBe(0);
  });
});

describe('isServerUrl', () => {
  it.each([
    ...['http://10.0.0.7:8080', 'http://10.0.0.7:8080/', 'http://leaf-0.leaf.default.svc:8080', 'http://127.0.0.1:80'],
    ...['http://[::1]:8080', 'http://[2001:db8::7]:8080', 'http://leaf_a:8080'],
    ...[
      'http://100.100.100.20:80',
      'http://100.100.100.201:80',
      'http://[64:ff9b::a00:7]:80',
      'http://[fd00:ec20::1]:80',
    ],
  ])('takes %s', (url) => {
    expect(isServerUrl(url)).toBe(true);
  });

  it.each([
    ...[undefined, null, 7, '', {}, ['http://10.0.0.7:8080'], '10.0.0.7:8080', 'file:///etc/passwd', 'ftp://leaf:21'],
    ...[
      'https://leaf.example:443',
      'http://leaf.example',
      'http://leaf:8080/base',
      'http://leaf:8080//',
      '//leaf:8080',
    ],
    ...[
      'http://leaf:8080/?a=b',
      'http://leaf:8080?a=b',
      'http://leaf:8080#a',
      'http://u:p@leaf:8080',
      'http://u@leaf:80',
    ],
    ...[
      'http://leaf:99999',
      'http://leaf:',
      'http://:8080',
      'http://leaf:80:80',
      'http://a b:80',
      'http://leaf:8080\n',
    ],
    ...['http://leaf:8080\r\nX: y', 'http://leaf\0:80', 'http://l%65af:80', 'http://leaf\\@evil:80', 'http:/leaf:80'],
  ])('refuses %j', (url) => {
    expect(isServerUrl(url)).toBe(false);
  });

  it.each([
    ...['169.254.169.254', '169.254.0.1', '0xa9fea9fe', '2852039166', '0xa9.0376.43518', '0251.0376.0251.0376'],
    ...['[fe80::1]', '[febf::1]', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[fd00:ec2::254]', '[FE80::1]'],
    ...['[64:ff9b::169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '[fd20:ce::254]', '100.100.100.200', '0x6464.0x64c8'],
    ...[
      '[::ffff:100.100.100.200]',
      '[64:ff9b::6464:64c8]',
      '168.63.129.16',
      '[::ffff:168.63.129.16]',
      '[64:FF9B::a83f:8110]',
    ],
  ])('refuses %s, which can be a metadata service', (host) => {
    expect(isServerUrl(`http://${host}:80`)).toBe(false);
  });
});
