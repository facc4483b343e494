import { connect, type Socket } from 'node:net';
import { rawCall, text } from '../support/http/http';
import { freshMetrics } from '../support/http/metrics';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const MAX_WAITING_ON_CONNECTION = 256;

let server: TestServer;
const sockets: Socket[] = [];
beforeAll(async () => (server = await startTestServer()));
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
afterAll(() => server.stop());

/** Nearly 16 KiB, in fewer than 100 headers. */
const LARGE_HEADERS = Array.from({ length: 95 }, (_, index) => `x-${index}: ${'y'.repeat(150)}`);

function get(path: string, ...headers: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: leaf', ...headers, '', ''].join('\r\n');
}

interface Sent {
  readonly socket: Socket;
  received: string;
  closed: boolean;
}

/** All that comes on one connection. */
function send(bytes: string, localAddress = '127.0.0.1'): Sent {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress }, () => socket.write(bytes));
  const sent = { socket, received: '', closed: false };
  socket.setEncoding('latin1').on('data', (part: string) => (sent.received += part));
  socket.on('error', () => undefined).on('close', () => (sent.closed = true));
  sockets.push(socket);
  return sent;
}

async function answered(route: string): Promise<number> {
  const line = new RegExp(`^leaf_http_requests_total\\{route="${route}",status="200"\\} (\\d+)$`, 'm');
  return Number(line.exec(await freshMetrics(server.port))?.[1] ?? 0);
}

async function refusals(): Promise<number> {
  return Number(/reason="pipelined"\} (\d+)/.exec(await freshMetrics(server.port))?.[1]);
}

it('requests of one packet get their responses in their order, IDs ascending', async () => {
  const path = `/api/segment/get/${TAG}`;
  const { body } = await rawCall(server.port, get(path).repeat(200) + get(path, 'Connection: close'));
  const ids = `\r\n\r\n${body}`.match(/(?<=\r\n\r\n)\d+/g)!.map(Number);
  expect(ids).toHaveLength(201);
  expect(ids).toEqual([...ids].sort((one, other) => one - other));
});

it('a request begins when the response before it is sent', async () => {
  const sent = send(get('/api/monitor/stream') + get('/api/internal/time').repeat(10));
  await until('the stream', () => sent.received.includes('event: snowflake'));
  expect(await answered('/api/internal/time')).toBe(0);
});

it('a request that waits is dropped with its connection', async () => {
  const before = await answered('/api/internal/time');
  const sent = send(get('/api/monitor/stream') + get('/api/internal/time').repeat(10));
  await until('the stream', () => sent.received.includes('event: snowflake'));
  sent.socket.destroy();
  await text(server.port, '/api/internal/time');
  expect(await answered('/api/internal/time')).toBe(before + 1);
});

it('more requests than a connection may have end it, and nothing of them is done', async () => {
  const refused = await refusals();
  const sent = send(get('/api/monitor/overview').repeat(1800));
  await until('the end of the connection', () => sent.closed);
  expect(await refusals()).toBe(refused + 1);
  expect(await answered('/api/monitor/overview')).toBeLessThanOrEqual(1);
  const allowed = send(get('/api/monitor/stream') + get('/metrics').repeat(MAX_WAITING_ON_CONNECTION));
  await until('the stream', () => allowed.received.includes('event: snowflake'));
  expect(allowed.closed).toBe(false);
});

describe('the bytes of waiting requests', () => {
  /** Nothing behind the stream is begun. */
  const held = (requests: string, localAddress?: string): Sent =>
    send(get('/api/monitor/stream') + requests, localAddress);
  const isHeld = ({ received, closed }: Sent): boolean => !closed && received.includes('event: snowflake');
  const settled = (all: readonly Sent[]): Promise<unknown> =>
    until('all of them', () => all.every((sent) => sent.closed || isHeld(sent)));

  it('have a limit on one connection: large headers cost more to parse than to send', async () => {
    const refused = await refusals();
    const few = held(get('/api/internal/time', ...LARGE_HEADERS).repeat(8));
    const many = held(get('/api/internal/time', ...LARGE_HEADERS).repeat(10));
    await settled([few]);
    await until('the end of the connection', () => many.closed);
    expect(isHeld(few)).toBe(true);
    expect(await refusals()).toBe(refused + 1);
  });

  it('of one client have a limit', async () => {
    const request = get('/api/internal/time');
    const [connections, most] = [12, 7];
    const all = Array.from({ length: connections }, () => held(request.repeat(MAX_WAITING_ON_CONNECTION)));
    await settled(all);
    // The first streams may be answered while requests behind them are still on their way.
    await until('the limit', () => all.filter(isHeld).length <= most);
    const waiting = all.filter(isHeld);
    expect(waiting.length).toBeGreaterThanOrEqual(1);
    // Some requests may wait on each connection, and another client has its own share.
    const two = send(get('/api/snowflake/get/order').repeat(2));
    await until('both IDs', () => two.received.split('HTTP/1.1 200').length === 3);
    const other = held(request.repeat(MAX_WAITING_ON_CONNECTION / 2), '127.0.0.2');
    await settled([other]);
    expect(isHeld(other)).toBe(true);
    waiting[0]?.socket.destroy();
    await until('room', async () => {
      const next = held(request.repeat(MAX_WAITING_ON_CONNECTION));
      await settled([next]);
      return isHeld(next);
    });
  });
});

it('requests of other connections have their turn in between', async () => {
  const path = `/api/segment/batch/${TAG}?size=1424`;
  const batches = send(get(path).repeat(200));
  await until('the first batch', () => batches.received.length > 0);
  for (let n = 0; n < 5; n++) await text(server.port, '/api/snowflake/get/order');
  const received = (): number => batches.received.split('HTTP/1.1 200').length - 1;
  expect(received()).toBeLessThan(200);
  await until('the last batch', () => received() === 200);
});

it('requests after an expectation that cannot be met, or another fault, are not read', async () => {
  for (const bad of [get('/', 'Expect: a-miracle'), get('/', 'Host: other'), get('/').replace('Host: leaf\r\n', '')]) {
    const sent = send(get('/api/internal/time') + bad + get('/api/internal/time'));
    await until('the end of the connection', () => sent.closed);
    expect(sent.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  }
});
