import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Clock, LeafError, SystemClock } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import type { EmbeddedIdService } from '@leaf-ids/id';
import { until } from '../../../../../test/support/until';
import { IdQuota } from '../../clients/client-access';
import { Drain } from '../../lifecycle/drain';
import { FastPath } from '../fast-path';
import { Connections, PendingResponses } from '../overload/connections';
import { OverloadCounts } from '../overload/refusals';
import { Pipelines } from '../overload/pipelines';
import { RequestCounts } from '../request-counts';
import { FaultResponder } from '../server/fault-responder';
import { HttpServer } from '../server/http-server';

const MAX_IN_FLIGHT = 2;
const LIMITS = { waitMs: 700, keepAliveMs: 65_000, maxConnections: 1000, trustedProxies: [], javaPaths: false };
const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: leaf\r\n\r\n`;
const STRICT = request('/api/segment/get/strict');
const KEPT = request('/api/segment/get/order');

describe('IdConnection', () => {
  const clock = new SystemClock();
  let waiting: { give: (id: string) => void; refuse: (reason: LeafError) => void }[];
  let handled: { request: IncomingMessage; response: ServerResponse }[];
  let counts: OverloadCounts;
  let requests: RequestCounts;
  let fastPath: FastPath;
  let server: HttpServer;
  let client: Socket;
  let received: string;

  const start = async (clock: Clock): Promise<void> => {
    [waiting, handled, received] = [[], [], ''];
    counts = new OverloadCounts();
    requests = new RequestCounts(clock);
    fastPath = new FastPath(requests, new Drain(clock, 0), 'number', clock, counts, MAX_IN_FLIGHT);
    const ids: Partial<EmbeddedIdService> = {
      tryNext: (tag) => (tag === 'order' ? 7n : undefined),
      isStrict: (tag) => tag === 'strict',
      nextIdString: () => new Promise((give, refuse) => waiting.push({ give, refuse })),
    };
    const quota = new IdQuota(Infinity, clock);
    fastPath.serve(ids as EmbeddedIdService, { tryCharge: () => quota });
    const pending = new PendingResponses();
    server = new HttpServer({
      limits: { ...LIMITS, maxInFlight: MAX_IN_FLIGHT, maxLagMs: 60_000 },
      connections: new Connections(1000, clock, counts, (socket) => pending.isBusy(socket)),
      ...{ pending, pipelines: new Pipelines(counts), accessLog: undefined, faults: new FaultResponder(requests) },
      ...{ fastPath, handler: (request, response) => handled.push({ request, response }) },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('latin1').on('data', (text: string) => (received += text));
    client.on('error', () => undefined);
  };

  beforeEach(() => start(clock));

  afterEach(async () => {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** The bodies of the responses. */
  const bodies = (): string[] => received.split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/).slice(1);

  it('answers a request that waits without the framework, and the requests behind it after it', async () => {
    client.write(KEPT + STRICT + KEPT);
    await until('the request that waits', () => waiting.length === 1);
    await until('the one before it', () => bodies().length === 1);
    client.write(KEPT);
    expect(counts.inFlight).toBe(1);
    waiting[0]?.give('8');
    await until('the others', () => bodies().length === 4);
    expect([bodies(), handled.length, counts.inFlight]).toEqual([['7', '8', '7', '7'], 0, 0]);
    expect(requests.of('/api/segment/get/:tag', 200).requests).toBe(4);
  });

  it('lets the framework answer a refusal, then reads on', async () => {
    const refusal = new LeafError('LEAF_SEGMENT_UNAVAILABLE', 'The database does not answer.');
    client.write(STRICT + KEPT);
    await until('the request', () => waiting.length === 1);
    waiting[0]?.refuse(refusal);
    await until('the framework', () => handled.length === 1);
    expect(handled.map(({ request }) => fastPath.refusalOf(request))).toEqual([refusal]);
    handled[0]?.response.end('refused');
    await until('both', () => bodies().length === 2);
    expect([bodies()[0]?.includes('refused'), bodies()[1]]).toEqual([true, '7']);
  });

  it('leaves requests beyond the limit of those in progress to the framework', async () => {
    counts.inFlight = MAX_IN_FLIGHT;
    client.write(STRICT);
    await until('the framework', () => handled.length === 1);
    expect([waiting.length, fastPath.refusalOf(handled[0]?.request as IncomingMessage)]).toEqual([0, undefined]);
  });

  it('ends the connection with the response when the server closes meanwhile', async () => {
    client.write(STRICT);
    await until('the request', () => waiting.length === 1);
    const closed = once(client, 'close');
    server.close();
    await clock.sleep(300);
    waiting[0]?.give('8');
    await closed;
    expect([bodies(), /^connection: close\r$/im.test(received)]).toEqual([['8'], true]);
  });

  it('forgets a client that left while its request waits', async () => {
    client.write(STRICT);
    await until('the request', () => waiting.length === 1);
    client.destroy();
    await until('the end of the connection', () => client.closed);
    waiting[0]?.give('8');
    await until('the end', () => counts.inFlight === 0);
  });

  it('goes on with a large response of the framework when the client reads', async () => {
    const piece = Buffer.alloc(1_000_000, '|');
    client.pause();
    client.write(request('/api/segment/get/cold') + KEPT);
    await until('the framework', () => handled.length === 1);
    const { response } = handled[0] ?? {};
    for (let left = 30; left > 0; left--) {
      if (response?.write(piece) === false) {
        const drained = once(response, 'drain');
        client.resume();
        await drained;
      }
    }
    response?.end();
    await until('the next one', () => received.endsWith('7'));
    expect(received.split('|').length - 1).toBe(30_000_000);
  });

  it.each([
    ['its response says so', (response: ServerResponse) => (response.shouldKeepAlive = false)],
    ['its headers say so', (response: ServerResponse) => response.setHeader('connection', 'close')],
  ])('takes no ID for the requests behind one that ends the connection: %s', async (_, end) => {
    const closed = once(client, 'close');
    client.write(request('/api/segment/get/cold') + KEPT + KEPT);
    await until('the framework', () => handled.length === 1);
    const { response } = handled[0] as (typeof handled)[0];
    end(response);
    response.end('last');
    await closed;
    expect([received.endsWith('last'), requests.of('/api/segment/get/:tag', 200).requests]).toEqual([true, 0]);
  });

  it('ends connections whose client has too many bytes behind requests that wait', async () => {
    const behind = KEPT.repeat(1000);
    const others = Array.from({ length: 200 }, () => {
      const { port } = server.address() as AddressInfo;
      return connect(port, '127.0.0.1').on('error', () => undefined);
    });
    for (const other of others) other.write(request('/api/segment/get/cold') + behind);
    const refused = (): number => new Map(counts.all()).get('pipelined') ?? 0;
    await until('a refusal', () => refused() > 0);
    await until('all requests', () => handled.length + refused() === others.length);
    expect(refused()).toBeLessThan(others.length);
    for (const other of others) other.destroy();
    await until('the end of all', () => others.every(({ closed }) => closed));
  });

  it('keeps the connection for the promised time after a response, however long that took', async () => {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
    const fake = new FakeClock();
    await start(fake);
    client.write(STRICT);
    await until('the request', () => waiting.length === 1);
    await fake.advance(14_000);
    waiting[0]?.give('8');
    await until('the response', () => bodies().length === 1);
    await fake.advance(LIMITS.keepAliveMs - 1);
    client.write(KEPT);
    await until('the next one', () => bodies().length === 2);
    const closed = once(client, 'close');
    await fake.advance(LIMITS.keepAliveMs + 1000);
    await closed;
  });
});
