import { connect, type Socket } from 'node:net';
import { ADMIN_TOKEN } from '../support/http/admin';
import { text } from '../support/http/http';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const HEAD = `POST /api/tags HTTP/1.1\r\nHost: leaf\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Type: application/json\r\n`;
/** The limits of the server are 10 to 16 seconds; a busy machine may notice late. */
const LIMIT_MS = 60_000;
const DRIP_MS = 500;

let server: TestServer;
const sockets: Socket[] = [];
beforeAll(async () => (server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN })));
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

interface Slow {
  readonly socket: Socket;
  received: string;
  closed: boolean;
}

/** Sends `first`, then a byte now and then, for ever. */
function dripping(first: string, byte = ''): Slow {
  let timer: NodeJS.Timeout | undefined;
  const socket = connect(server.port, '127.0.0.1', () => {
    socket.write(first);
    if (byte !== '') timer = setInterval(() => socket.write(byte), DRIP_MS);
  });
  const slow: Slow = { socket, received: '', closed: false };
  socket.setEncoding('utf8').on('data', (part: string) => (slow.received += part));
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    slow.closed = true;
  });
  sockets.push(socket);
  return slow;
}

it('gives up on clients that are slow, each in its time, and serves on', async () => {
  const late = {
    silent: dripping(''),
    line: dripping('GET /', 'a'),
    header: dripping('GET /api/snowflake/get/order HTTP/1.1\r\nHost: leaf\r\nX: ', 'x'),
    body: dripping(`${HEAD}Content-Length: 1000\r\n\r\n{`, ' '),
    chunks: dripping(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'),
  };
  // Ended by whichever limit is looked at first: that of requests, which says so, or that of connections.
  const stalled = dripping(`${HEAD}Content-Length: 1000\r\n\r\n{`);
  await until('the end of all that send slowly', () => Object.values(late).every(({ closed }) => closed), LIMIT_MS);
  for (const [what, { received }] of Object.entries(late)) {
    expect([what, received]).toEqual([what, expect.stringMatching(/^HTTP\/1.1 408 [^]*LEAF_REQUEST_TIMEOUT/)]);
  }
  await until('the end of the one that stalls', () => stalled.closed, LIMIT_MS);
  expect(stalled.received).toMatch(/^(HTTP\/1.1 408 |$)/);
  expect(await text(server.port, '/api/segment/get/leaf-segment-test')).toMatch(/^[1-9]\d*$/);
});
