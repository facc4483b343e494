import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { type Answer, call, text } from '../support/http/http';
import { EventReader } from '../support/http/event-reader';
import { problemCode } from '../support/http/problem';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const LIMIT = 5;
/** Connections beyond the limit, and more while the first requests of those are awaited. */
const RESERVE = 32;
const ARRIVALS = 256;
/** A connection that stalls is closed after this time and 15 s. */
const LONG_STALL = { LEAF_SEGMENT_WAIT_MS: '60000' };
const ID = '/api/snowflake/get/order';
/** Not answered beyond the limit. */
const SLOW_ID = '/api/snowflake/batch/order?size=1000';
const BATCH = 'GET /api/snowflake/batch/order?size=10000 HTTP/1.1\r\nHost: leaf\r\n\r\n';
const METRICS = 'GET /metrics HTTP/1.1\r\nHost: leaf\r\n\r\n';

let server: TestServer;
const closers: (() => unknown)[] = [];

beforeEach(async () => {
  server = await startTestServer({ LEAF_MAX_CONNECTIONS: String(LIMIT), LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await server.stop();
});

function open(bytes = '', localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress }, () => socket.write(bytes));
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
    ['silent, of another client', '', '127.0.0.2'],
    ['with half a request', 'GET /'],
    [
      'with half a body',
      'POST /api/tags HTTP/1.1\r\nHost: leaf\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
    ['after a request', `GET ${ID} HTTP/1.1\r\nHost: leaf\r\n\r\n`],
  ])('idle ones, %s, lock out nobody', async (_what, bytes, address = '127.0.0.1') => {
    const idle = Array.from({ length: 3 * LIMIT }, () => open(bytes, address));
    for (let n = 0; n < 2 * LIMIT; n++) {
      expect((await call(server.port, SLOW_ID)).status).toBe(200);
      expect((await call(server.port, '/health/ready')).status).toBe(200);
    }
    await until('the end of those beyond the limit', () => idle.filter(({ closed }) => closed).length >= 2 * LIMIT);
    expect(await refusals()).toBe(0);
  });

  it('those whose request waits, for the turn of a costly route or a refusal, lock out nobody', async () => {
    // Of one client, half of 32 wait for their turn and the others for a refusal.
    await server.stop();
    server = await startTestServer({ LEAF_MAX_CONNECTIONS: '40' });
    let isOver = false;
    const join = (): void => {
      const socket = open(METRICS).on('data', () => socket.write(METRICS));
      socket.on('close', () => isOver || join());
    };
    closers.unshift(() => (isOver = true));
    for (let n = 0; n < 80; n++) join();
    for (let n = 0; n < 20; n++) {
      expect((await call(server.port, SLOW_ID)).status).toBe(200);
      expect((await call(server.port, '/health/ready')).status).toBe(200);
    }
  });

  it('those whose client reads nothing make room', async () => {
    await server.stop();
    server = await startTestServer({ LEAF_MAX_CONNECTIONS: String(LIMIT), ...LONG_STALL });
    const unread = Array.from({ length: LIMIT }, () => open(BATCH.repeat(100)));
    await Promise.all(unread.map((socket) => once(socket, 'data').then(() => socket.pause())));
    await until('a place for another one', async () => (await call(server.port, SLOW_ID)).status === 200);
  });

  it('a client takes no place of one with fewer connections', async () => {
    const few = [open('', '127.0.0.2'), open('', '127.0.0.2')];
    const many = Array.from({ length: 4 * LIMIT }, () => open());
    await until('the end of those beyond the limit', () => many.filter(({ closed }) => closed).length >= 3 * LIMIT);
    expect((await call(server.port, ID)).status).toBe(200);
    expect(few.map(({ closed }) => closed)).toEqual([false, false]);
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

  it('a response in progress is not cut; without an idle connection, more get IDs from memory and reach what operators need', async () => {
    const streams: EventReader[] = [];
    for (let n = 0; n < LIMIT; n++) streams.push(await EventReader.open(server.port, '/api/monitor/stream'));
    closers.push(() => streams.forEach((stream) => stream.close()));
    const ask = (path: string): Promise<Answer> => call(server.port, path, { agent: new Agent({ keepAlive: true }) });
    const id = await ask(ID);
    expect([id.status, id.headers.connection]).toEqual([200, 'close']);
    const batch = await ask(SLOW_ID);
    expect([problemCode(batch), batch.headers.connection]).toEqual(['LEAF_OVERLOADED', 'close']);
    for (const path of ['/health/live', '/health/ready', '/health/startup', '/metrics', '/api/internal/time']) {
      expect([path, (await call(server.port, path)).status]).toEqual([path, 200]);
    }
    for (const method of ['POST', 'DELETE']) {
      expect((await admin(server.port, method, '/api/server/drain')).status).toBe(200);
    }
    expect(await refusals()).toBe(1);
    expect(streams.filter(({ ended }) => ended)).toStrictEqual([]);
    streams[0]?.close();
    await until('a place for another one', async () => (await call(server.port, SLOW_ID)).status === 200);
  });

  it('more connections than the reserve that arrive together are all served', async () => {
    const streams: EventReader[] = [];
    for (let n = 0; n < LIMIT; n++) streams.push(await EventReader.open(server.port, '/api/monitor/stream'));
    closers.push(() => streams.forEach((stream) => stream.close()));
    const arrivals = Array.from({ length: 2 * RESERVE }, () => open());
    await Promise.all(arrivals.map((socket) => once(socket, 'connect')));
    const answers = arrivals.map(async (socket) =>
      String(await Promise.race([once(socket, 'data'), once(socket, 'close')])),
    );
    for (const socket of arrivals) socket.write(`GET ${ID} HTTP/1.1\r\nHost: leaf\r\n\r\n`);
    expect(new Set((await Promise.all(answers)).map((answer) => answer.slice(0, 15)))).toEqual(
      new Set(['HTTP/1.1 200 OK']),
    );
  });

  it('connections beyond the reserve are closed, and those of the reserve when they are silent', async () => {
    const streams: EventReader[] = [];
    for (let n = 0; n < LIMIT; n++) streams.push(await EventReader.open(server.port, '/api/monitor/stream'));
    closers.push(() => streams.forEach((stream) => stream.close()));
    const silent = Array.from({ length: RESERVE + ARRIVALS + 10 }, () => open());
    await until('the end of the silent ones', () => silent.every(({ closed }) => closed));
    expect(await refusals()).toBeGreaterThanOrEqual(10);
    expect((await call(server.port, '/health/ready')).status).toBe(200);
  });
});
