import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from '../support/http/http';
import { startTestServer, type TestServer } from '../support/servers/server';
import { stopwatch } from '../support/starvation';
import { until } from '../support/until';

const GET = 'GET /api/snowflake/get/order HTTP/1.1\r\nhost: leaf\r\n\r\n';
const BATCH = 'GET /api/segment/batch/leaf-segment-test?size=10000 HTTP/1.1\r\nhost: leaf\r\n\r\n';

/** Connections on which nothing moves, and answers that nobody reads, end in any case after it. */
const WAIT_MS = 60_000;
/** For a stop that waits for nobody, without what this process waits for a processor. */
const STOP_MS = 1000;

let server: TestServer;
const clients: Client[] = [];

beforeEach(async () => (server = await startTestServer({ LEAF_SEGMENT_WAIT_MS: String(WAIT_MS) })));
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await server.stop();
});

/** A connection, and all that came on it. */
interface Client {
  readonly socket: Socket;
  received: string;
  error: NodeJS.ErrnoException | undefined;
}

async function open(): Promise<Client> {
  const socket = connect(server.port, '127.0.0.1');
  const client: Client = { socket, received: '', error: undefined };
  clients.push(client);
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => (client.received += part));
  socket.on('error', (error) => (client.error = error));
  await once(socket, 'connect');
  return client;
}

async function openUsed(): Promise<Client> {
  const client = await open();
  client.socket.write(GET);
  await until('answer', () => answersOf(client.received).length === 1);
  client.received = '';
  return client;
}

interface Received {
  readonly status: string;
  readonly close: boolean;
  readonly whole: boolean;
}

function answersOf(text: string): Received[] {
  const answers: Received[] = [];
  for (let rest = text; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const head = rest.slice(0, end < 4 ? rest.length : end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    const next = head.length + length;
    answers.push({ status: head.slice(9, 12), close: /connection: close/i.test(head), whole: rest.length >= next });
    rest = rest.slice(next);
  }
  return answers;
}

describe('when HTTP closes', () => {
  it.each(['', 'GET /api/snow'])('a connection on which only %j came does not hold up the stop', async (sent) => {
    const { socket } = await open();
    if (sent !== '') await new Promise((resolve) => socket.write(sent, resolve));
    await openUsed();
    const closed = once(socket, 'close');
    const time = stopwatch();
    await server.server.close({ drain: false });
    await closed;
    expect(time()).toBeLessThan(STOP_MS);
  });

  it('a request that is on its way on a kept connection is answered, and the connection ends', async () => {
    const used = await Promise.all(Array.from({ length: 30 }, openUsed));
    const sent = used.map(({ socket }) => new Promise((resolve) => socket.write(GET, resolve)));
    const closing = server.server.close({ drain: false });
    await Promise.all(sent);
    await closing;
    await until('end of the connections', () => used.every(({ socket }) => socket.closed));
    const outcomes = used.map(({ received, error }) => ({ answers: answersOf(received), error }));
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toEqual(
      new Set([JSON.stringify({ answers: [{ status: '200', close: true, whole: true }], error: undefined })]),
    );
  });

  it('answers that are made and not sent yet go out whole', async () => {
    const client = await open();
    client.socket.pause();
    client.socket.write(BATCH.repeat(100));
    // More than the kernel holds: the rest of it waits in the server.
    let sent = 0;
    await until('a full pipe', async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      const before = sent;
      sent = await answeredBatches();
      return sent > 0 && sent === before;
    });
    // The server ends it when it looks through its connections, after the other one.
    const idle = await openUsed();
    const closing = server.server.close({ drain: false });
    await once(idle.socket, 'close');
    client.socket.resume();
    await Promise.all([closing, once(client.socket, 'close')]);
    const answers = answersOf(client.received);
    expect(answers.length).toBeGreaterThan(sent);
    expect(answers.filter(({ whole, status }) => !whole || status !== '200')).toStrictEqual([]);
  });
});

async function answeredBatches(): Promise<number> {
  const pattern = /^leaf_http_requests_total\{route="\/api\/segment\/batch\/:tag",status="200"\} (\d+)$/m;
  return Number(pattern.exec(await text(server.port, '/metrics'))?.[1] ?? 0);
}
