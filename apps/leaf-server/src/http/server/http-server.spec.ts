import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { until } from '../../../../../test/support/until';
import { Drain } from '../../lifecycle/drain';
import { Admission } from '../overload/admission';
import { Connections, PendingResponses } from '../overload/connections';
import { OverloadCounts } from '../overload/refusals';
import { Pipelines } from '../overload/pipelines';
import { RequestCounts } from '../request-counts';
import { FastPath } from '../fast-path';
import { FaultResponder } from './fault-responder';
import { HttpServer } from './http-server';

const WAIT_MS = 700;
const LIMITS = {
  ...{ maxInFlight: 10, maxLagMs: 60_000, maxConnections: 10 },
  ...{ keepAliveMs: 65_000, trustedProxies: [], javaPaths: false },
};
/** Far more than the kernel holds for a connection. */
const LARGE = Buffer.alloc(64_000_000, 'x');

describe('HttpServer, with a client that does not take its answer', () => {
  const clock = new SystemClock();
  let counts: OverloadCounts;
  let server: HttpServer;
  let client: Socket;

  async function start(handler: RequestListener): Promise<void> {
    counts = new OverloadCounts();
    const limits = { ...LIMITS, waitMs: WAIT_MS };
    const requests = new RequestCounts(clock);
    const pending = new PendingResponses();
    const connections = new Connections(10, clock, counts, (socket) => pending.isBusy(socket));
    const admission = new Admission(limits, connections, pending, clock, counts);
    server = new HttpServer({
      limits,
      connections,
      pending,
      pipelines: new Pipelines(counts),
      accessLog: undefined,
      faults: new FaultResponder(requests),
      fastPath: new FastPath(requests, new Drain(clock, 0), 'number', clock, counts, 100),
      handler: (request, response) =>
        admission.pass(
          'id',
          () => 'client',
          response,
          () => handler(request, response),
        ),
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  async function ask(): Promise<void> {
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    client.pause();
    client.write('GET /api/segment/batch/order HTTP/1.1\r\nhost: leaf\r\n\r\n');
    await until('the request', () => counts.inFlight === 1);
  }

  afterEach(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('waits 15 s longer than a request may', async () => {
    await start((_request, response) => response.end());
    expect(server.timeout).toBe(WAIT_MS + 15_000);
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  });

  it('parses nothing behind the pipelined request that ends a connection', async () => {
    await start(() => undefined);
    let parsed = 0;
    server.on('request', () => parsed++);
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const closed = once(
      client.on('error', () => undefined),
      'close',
    );
    client.resume().write('GET / HTTP/1.1\r\nhost: leaf\r\n\r\n'.repeat(1500));
    await closed;
    // One in progress, 256 behind it, and the one that is too many.
    expect(parsed).toBe(258);
  });

  it('ends the connection, and the request is not under way any more', async () => {
    await start((_request, response) => response.end(LARGE));
    server.timeout = WAIT_MS;
    await ask();
    await until('the end of the answer', () => counts.inFlight === 0);
    const closed = once(client, 'close');
    client.resume();
    await closed;
    expect(client.bytesRead).toBeLessThan(LARGE.length);
  });
});
