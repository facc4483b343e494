import { Agent } from 'node:http';
import { once } from 'node:events';
import { connect } from 'node:net';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { call, json, text } from '../support/http/http';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const SEGMENT = '/api/segment/get/leaf-segment-test';
const ID_ROUTES = [SEGMENT, '/api/snowflake/get/order', '/api/snowflake/decode/1', '/decodeSnowflakeId?snowflakeId=1'];
const BOTH = ['/health/live', '/health/ready', '/health/ready/segment', '/health/startup', '/api/internal/time'];
const OPERATORS = ['/', '/metrics', '/api/tags', '/api/monitor/overview', '/api/monitor/stream', '/cache', '/db'];
const DOCUMENTATION = ['/docs', '/docs/swagger-ui.css', '/openapi.json', '/assets/none.js'];

describe('A server with a management port', () => {
  let server: TestServer;
  let management: number;
  beforeAll(async () => {
    server = await startTestServer({
      LEAF_MANAGEMENT_PORT: '0',
      LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
      LEAF_MAX_CONNECTIONS: '4',
    });
    management = server.server.managementPort!;
  });
  afterAll(() => server.stop());

  async function statusOf(port: number, path: string): Promise<number> {
    // The stream never ends: its head is enough.
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: leaf\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return Number(/^HTTP\/1.1 (\d+)/.exec(head.toString())?.[1]);
  }

  it('serves IDs and probes on both ports', async () => {
    for (const port of [server.port, management]) {
      for (const path of [...ID_ROUTES, ...BOTH]) expect([path, await statusOf(port, path)]).toEqual([path, 200]);
    }
  });

  it('serves everything else to operators only', async () => {
    const paths = [...OPERATORS, ...DOCUMENTATION];
    for (const path of paths) expect([path, await statusOf(server.port, path)]).toEqual([path, 404]);
    for (const path of [...OPERATORS, ...DOCUMENTATION.slice(0, -1)].filter((path) => path !== '/')) {
      expect([path, await statusOf(management, path)]).toEqual([path, 200]);
    }
  });

  it('says on the public port where the routes of operators are', async () => {
    const { body } = await call(server.port, '/metrics');
    expect(JSON.parse(body)).toMatchObject({
      code: 'LEAF_NOT_FOUND',
      detail: expect.stringContaining('MANAGEMENT_PORT'),
    });
    expect((await call(server.port, '/metricsx')).body).not.toContain('MANAGEMENT_PORT');
  });

  it('takes no command on the public port, with a token or without, and names no method there', async () => {
    const commands = [
      ['POST', '/api/server/drain'],
      ['DELETE', '/api/server/drain'],
      ['POST', '/api/tags'],
      ['PATCH', '/api/tags/leaf-segment-test'],
      ['POST', '/api/tags/leaf-segment-test/pause'],
      ['PUT', '/api/tags'],
      ['PUT', '/metrics'],
    ];
    for (const [method, path] of commands) {
      const { status, headers } = await admin(server.port, method!, path!);
      expect([method, path, status, headers.allow]).toEqual([method, path, 404, undefined]);
    }
    expect((await admin(management, 'PUT', '/api/tags')).status).toBe(405);
    expect((await admin(management, 'POST', '/api/tags', { tag: 'order', step: 10 })).status).toBe(201);
    expect(await text(server.port, '/api/segment/get/order')).toBe('1');
  });

  it('answers operators while the public port is full of connections', async () => {
    const sockets = Array.from({ length: 60 }, () => connect(server.port, '127.0.0.1'));
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      // A request under way: an idle connection would make room.
      socket.write('POST /api/tags HTTP/1.1\r\nhost: leaf\r\ncontent-length: 10\r\n\r\n');
    }
    try {
      await until('the limit', async () => (await text(management, '/metrics')).match(/"connections"\} [1-9]/));
      expect((await call(management, '/health/ready')).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

it('A stop answers what is in progress on the management port, and closes it', async () => {
  const server = await startTestServer({ LEAF_MANAGEMENT_PORT: '0' });
  const port = server.server.managementPort!;
  const agent = new Agent({ keepAlive: true });
  await call(port, '/metrics', { agent });
  await server.stop();
  await expect(call(port, '/health/live')).rejects.toThrow('ECONNREFUSED');
  agent.destroy();
});

it('A management port that is in use ends the start, and names its setting', async () => {
  const server = await startTestServer();
  try {
    await expect(startTestServer({ LEAF_MANAGEMENT_PORT: String(server.port) })).rejects.toMatchObject({
      code: 'LEAF_PORT_UNUSABLE',
      message: expect.stringContaining('LEAF_MANAGEMENT_PORT') as string,
    });
  } finally {
    await server.stop();
  }
});

describe('A server behind a path prefix', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await makeDataDirectory();
  });
  afterAll(() => removeDataDirectory(directory));

  it('puts the prefix in front of every path that it hands out, and believes no header', async () => {
    const env = { LEAF_PUBLIC_PATH: '/ids/leaf', LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_DATA_DIR: directory };
    const server = await startTestServer(env);
    try {
      const created = await admin(server.port, 'POST', '/api/tags', { tag: 'order', step: 10 });
      expect(created.headers.location).toBe('/ids/leaf/api/tags/order');
      const headers = { 'x-forwarded-prefix': '/evil' };
      for (const path of ['/cache', '/db']) {
        expect((await call(server.port, path, { headers })).body).toContain('<a href="/ids/leaf/">');
      }
      const { servers } = await json<{ servers: object[] }>(server.port, '/openapi.json');
      expect(servers).toEqual([{ url: '/ids/leaf', description: 'This server' }]);
      expect(await text(server.port, '/docs')).not.toMatch(/(href|src)="\//);
    } finally {
      await server.stop();
    }
  });
});
