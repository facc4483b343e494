import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { until } from '../../../../../test/support/until';
import { Drain } from '../../lifecycle/drain';
import { OverloadCounts } from '../overload/overload-counts';
import { RequestCounts } from '../request-counts';
import { FastPath } from '../fast-path';
import { HttpServer } from './http-server';

const WAIT_MS = 700;
/** Far more than the kernel holds for a connection. */
const LARGE = Buffer.alloc(64_000_000, 'x');

describe('HttpServer, with a client that does not take its answer', () => {
  const clock = new SystemClock();
  let counts: OverloadCounts;
  let server: HttpServer;
  let client: Socket;

  async function start(handler: RequestListener): Promise<void> {
    counts = new OverloadCounts();
    const limits = { maxInFlight: 10, maxLagMs: 60_000, maxConnections: 10, dealt: false, waitMs: WAIT_MS };
    const route = new FastPath(new RequestCounts(clock), new Drain(clock, 0));
    server = new HttpServer(limits, clock, counts, route, handler);
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
