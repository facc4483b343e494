import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { once } from 'node:events';
import { listen, placeOf, urlOf } from './listen';

const settings = { host: 'LEAF_MANAGEMENT_HOST', port: 'LEAF_MANAGEMENT_PORT' };

/** Listens with a socket. */
function listenAt(host: string, port: number): Promise<unknown> {
  const server = createServer();
  return listen({ host, port, settings }, async () => {
    server.listen(port, host);
    await once(server, 'listening').finally(() => server.close());
  });
}

/** As the system reports it. */
function failing(code: string, host = '10.0.0.7', port = 80): Promise<unknown> {
  return listen({ host, port, settings }, () => Promise.reject(Object.assign(new Error('it broke'), { code })));
}

describe('listen', () => {
  it('names a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(listenAt('127.0.0.1', port)).rejects.toMatchObject({
      code: 'LEAF_PORT_UNUSABLE',
      message: `HTTP cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or choose another port in LEAF_MANAGEMENT_PORT.`,
    });
    other.close();
  });

  it('names an address of another host, and those of this one', async () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list!.map(({ address }) => address));
    await expect(listenAt('192.0.2.200', 0)).rejects.toMatchObject({
      message: `HTTP cannot listen on 192.0.2.200:0: 192.0.2.200 is not an address of this host. Set LEAF_MANAGEMENT_HOST to one of ${own.join(', ')}, or remove it to use the default.`,
    });
  });

  it.each([
    ['ENOTFOUND', 'HTTP cannot listen on none.invalid:80: the host name cannot be resolved. Set LEAF_MANAGEMENT_HOST'],
    ['EAI_AGAIN', 'HTTP cannot listen on none.invalid:80: the host name cannot be resolved. Set LEAF_MANAGEMENT_HOST'],
    ['EACCES', 'this user may not listen on port 80. Choose a port from 1024 upwards in LEAF_MANAGEMENT_PORT.'],
    ['EIO', 'it broke. Choose another address in LEAF_MANAGEMENT_HOST or another port in LEAF_MANAGEMENT_PORT.'],
  ])('names the remedy of %s', async (code, message) => {
    await expect(failing(code, 'none.invalid')).rejects.toThrow(message);
  });

  it('puts IPv6 addresses in brackets', async () => {
    await expect(failing('EIO', '2001:db8::1')).rejects.toThrow('HTTP cannot listen on [2001:db8::1]:80: ');
  });
});

it.each([
  ['::', '::', 'http://127.0.0.1:80', ' (all addresses of this host)'],
  ['0.0.0.0', '0.0.0.0', 'http://127.0.0.1:80', ' (all IPv4 addresses of this host)'],
  ['10.0.0.7', '10.0.0.7', 'http://10.0.0.7:80', ''],
  ['2001:db8::1', '2001:db8::1', 'http://[2001:db8::1]:80', ''],
  ['leaf.internal', '10.0.0.7', 'http://leaf.internal:80', ' (address 10.0.0.7)'],
])('a port on %s is reached at a URL, and the log names what it listens on', (host, bound, url, rest) => {
  expect(urlOf(host, 80)).toBe(url);
  expect(placeOf(host, 80, bound)).toBe(url + rest);
});
