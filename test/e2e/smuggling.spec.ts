import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { closeAll } from '../support/close-all';
import { attack, mistakes, withoutOwn } from '../support/http-smuggling/attack';
import { BODY_VECTOR, CHUNK_VECTORS, requestOf, VECTORS } from '../support/http-smuggling/vectors';
import { LoadBalancer } from '../support/servers/load-balancer';
import { startTestServer } from '../support/servers/server';

const opened: (() => unknown)[] = [];
afterAll(() => closeAll(opened));

async function proxy(...how: Parameters<typeof LoadBalancer.start>): Promise<number> {
  const balancer = await LoadBalancer.start(...how);
  opened.push(() => balancer.stop());
  return balancer.port;
}

/** What clients connect to: the server, or a proxy whose connections to the server all clients share. */
const WAYS: Readonly<Record<string, (server: number) => Promise<number> | number>> = {
  directly: (server) => server,
  'through nginx': (server) => proxy('nginx', [server]),
  'through HAProxy': (server) => proxy('haproxy', [server], { 'balance leastconn': 'http-reuse always' }),
};

describe('a server with the reader of ID requests and one without it', () => {
  const ports: (readonly [string, number, number])[] = [];

  beforeAll(async () => {
    const servers = [await startTestServer(), await startTestServer({}, { fastPath: false })] as const;
    opened.push(...servers.map(({ stop }) => stop));
    for (const [way, start] of Object.entries(WAYS)) {
      ports.push([way, await start(servers[0].port), await start(servers[1].port)]);
    }
  });

  /** On a new connection, and behind a request after which the reader knows the headers. */
  async function compare(bytes: string, look: typeof withoutOwn = (outcome) => outcome): Promise<void> {
    for (const parts of [[bytes], [requestOf('ordinary', 4), bytes]]) {
      const all = ports.map(async ([way, ...both]) => {
        const [some, others] = await Promise.all(both.map((port) => attack(port, parts)));
        return [way, some!, others!] as const;
      });
      for (const [way, some, others] of await Promise.all(all)) {
        expect([way, mistakes(some), mistakes(others)]).toEqual([way, [], []]);
        // HAProxy may end the connection when the server has ended its own before it read the trailers.
        const count = way === 'through HAProxy' ? Math.min(some.answered.length, others.answered.length) : undefined;
        const [seen, expected] = [some, others].map((outcome) => ({ ...look(outcome, count), victim: '' }));
        expect([way, seen]).toEqual([way, expected]);
      }
    }
  }

  it.each(VECTORS)('respond alike to %s, and to nobody else', (_name, bytes) => compare(bytes));

  it.each(CHUNK_VECTORS)('respond alike behind the chunks %s, and to nobody else', (_name, bytes) =>
    compare(bytes, withoutOwn),
  );
});

/** Ignores bodies. */
async function lenientServer(): Promise<number> {
  const server = createServer((socket) => {
    let received = '';
    socket.on('data', (chunk) => {
      const heads = (received + chunk.toString('latin1')).split('\r\n\r\n');
      received = heads.pop() ?? '';
      for (const head of heads) {
        const [, size = '1', nonce = 'none'] = /size=(\d)&nonce=(\w+)/.exec(head) ?? [];
        const body = JSON.stringify({ ranges: [{ from: '1', to: size }] });
        socket.write(`HTTP/1.1 200 OK\r\nleaf-nonce: ${nonce}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      }
    });
    socket.on('error', () => socket.destroy());
    opened.push(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

it.each(['through nginx', 'through HAProxy'])('a server that ignores bodies is detected %s', async (way) => {
  const port = await WAYS[way]!(await lenientServer());
  expect(mistakes(await attack(port, [requestOf('ordinary', 4)]))).toStrictEqual([]);
  // The victim is not always sent over the connection that the attacker has used.
  let noticed: readonly string[] = [];
  for (let tries = 0; tries < 20 && noticed.length === 0; tries++) {
    noticed = mistakes(await attack(port, [BODY_VECTOR]));
  }
  expect(noticed).toEqual([expect.stringContaining('leaf-nonce: smuggled')]);
});
