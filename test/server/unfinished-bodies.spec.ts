import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { call } from '../support/http/http';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const WORKER_TOKEN = 'worker-token-0123456789';
/** More than the queue of the operators takes, begun and waiting. */
const ORDERS = 100;
/** The same for worker windows. */
const WINDOWS = 600;

let directory: string;
let server: TestServer;
const sockets: Socket[] = [];

beforeAll(async () => {
  directory = await makeDataDirectory();
  server = await startTestServer({
    LEAF_DATA_DIR: directory,
    LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
    LEAF_WORKER_TOKENS: WORKER_TOKEN,
    LEAF_SNOWFLAKE_REGISTRY: 'database',
    LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite`,
    LEAF_MAX_CONNECTIONS: '2000',
  });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await server.stop();
  await removeDataDirectory(directory);
});

/** Sends requests without the end of their bodies. Returns what each connection has received. */
async function sendUnfinished(path: string, count: number, token?: string): Promise<() => readonly string[]> {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nHost: leaf\r\n${authorization}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  const received = Array.from({ length: count }, () => '');
  await Promise.all(
    received.map(async (_, index) => {
      const socket = connect(server.port, '127.0.0.1');
      sockets.push(socket);
      socket.setEncoding('latin1').on('data', (part: string) => (received[index] = `${received[index]}${part}`));
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(head);
    }),
  );
  await call(server.port, '/health/live');
  return () => received;
}

it.each([
  ['/api/tags', ORDERS],
  ['/api/workers', ORDERS],
])('a request to %s without a token is refused before its body is complete', async (path, count) => {
  const received = await sendUnfinished(path, count);
  await until('all refusals', () => received().every((text) => text !== ''));
  // After ten failures of the address.
  for (const text of received()) expect(text).toMatch(/^HTTP\/1\.1 (401|429) /);
  expect((await admin(server.port, 'POST', '/api/tags/leaf-segment-test/pause')).status).toBe(200);
});

it('bodies that are not complete keep no operator waiting', async () => {
  const received = await sendUnfinished('/api/tags', ORDERS, ADMIN_TOKEN);
  expect((await admin(server.port, 'POST', '/api/tags/leaf-segment-test/resume')).status).toBe(200);
  expect(received().join('')).toBe('');
});

it('bodies that are not complete keep no worker waiting', async () => {
  const received = await sendUnfinished('/api/workers', WINDOWS, WORKER_TOKEN);
  const body = { lease: '5f0c6b9e2a7d4c1f8e3b0a9d6c5f4e21', holder: 'billing' };
  expect((await admin(server.port, 'POST', '/api/workers', body, WORKER_TOKEN)).status).toBe(201);
  expect(received().join('')).toBe('');
});
