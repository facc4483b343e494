import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { call, text } from '../support/http/http';
import { EventReader } from '../support/http/event-reader';
import { problemCode } from '../support/http/problem';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const LIMIT = 5;
/** Connections beyond the limit. */
const RESERVE = 32;
const ID = '/api/snowflake/get/order';

let server: TestServer;
const closers: (() => unknown)[] = [];

beforeEach(async () => {
  server = await startTestServer({ LEAF_MAX_CONNECTIONS: String(LIMIT), LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await server.stop();
});

function open(bytes = ''): Socket {
  const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
  closers.push(() => socket.destroy());
  return socket.on('error', () => undefined).resume();
}

async function agentWithConnection(): Promise<Agent> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closers.push(() => agent.destroy());
  await text(server.port, ID, { agent });
  return agent;
}

async function refusals(): Promise<number> {
  return Number(/reason="connections"\} (\d+)/.exec(await text(server.port, '/metrics'))?.[1]);
}

describe('at the limit of connections', () => {
  it.each([
    ['silent', ''],
    ['with half a request', 'GET /'],
    ['after a request', `GET ${ID} HTTP/1.1\r\nHost: leaf\r\n\r\n`],
  ])('idle ones, %s, lock out nobody', async (_what, bytes) => {
    const idle = Array.from({ length: 3 * LIMIT }, () => open(bytes));
    for (let n = 0; n < 2 * LIMIT; n++) {
      expect((await call(server.port, ID)).status).toBe(200);
      expect((await call(server.port, '/health/ready')).status).toBe(200);
    }
    await until('the end of those beyond the limit', () => idle.filter(({ closed }) => closed).length >= 2 * LIMIT);
    expect(await refusals()).toBe(0);
  });

  it('those in use stay, and one that is idle longest makes room', async () => {
    const agents: Agent[] = [];
    for (let n = 0; n < LIMIT; n++) agents.push(await agentWithConnection());
    const socketOf = (agent?: Agent): Socket => Object.values(agent?.freeSockets ?? {})[0]![0]!;
    const sockets = agents.map(socketOf);
    // All of them are looked at once; then all but the second are used.
    const [first] = sockets;
    open();
    await until('the end of the first', () => first!.closed);
    for (const agent of agents.slice(2)) await text(server.port, ID, { agent });
    open();
    await until('the end of the second', () => sockets[1]!.closed);
    expect(sockets.map(({ closed }) => closed)).toEqual([true, true, false, false, false]);
  });

  it('a response in progress is not cut; without an idle connection, more get no ID but reach what operators need', async () => {
    const streams: EventReader[] = [];
    for (let n = 0; n < LIMIT; n++) streams.push(await EventReader.open(server.port, '/api/monitor/stream'));
    closers.push(() => streams.forEach((stream) => stream.close()));
    for (const path of [ID, '/api/segment/batch/leaf-segment-test?size=10000']) {
      const answer = await call(server.port, path, { agent: new Agent({ keepAlive: true }) });
      expect(problemCode(answer)).toBe('LEAF_OVERLOADED');
      expect(answer.headers.connection).toBe('close');
    }
    for (const path of ['/health/live', '/health/ready', '/health/startup', '/metrics', '/api/internal/time']) {
      expect([path, (await call(server.port, path)).status]).toEqual([path, 200]);
    }
    for (const method of ['POST', 'DELETE']) {
      expect((await admin(server.port, method, '/api/server/drain')).status).toBe(200);
    }
    expect(await refusals()).toBe(2);
    expect(streams.filter(({ ended }) => ended)).toEqual([]);
    streams[0]?.close();
    await until('a place for another one', async () => (await call(server.port, ID)).status === 200);
  });

  it('connections beyond the reserve are closed, and those of the reserve when they are silent', async () => {
    const streams: EventReader[] = [];
    for (let n = 0; n < LIMIT; n++) streams.push(await EventReader.open(server.port, '/api/monitor/stream'));
    closers.push(() => streams.forEach((stream) => stream.close()));
    const silent = Array.from({ length: RESERVE + 10 }, () => open());
    await until('the end of the silent ones', () => silent.every(({ closed }) => closed));
    expect(await refusals()).toBeGreaterThanOrEqual(10);
    expect((await call(server.port, '/health/ready')).status).toBe(200);
  });
});
