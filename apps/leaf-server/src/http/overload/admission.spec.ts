import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { until } from '../../../../../test/support/until';
import { Admission } from './admission';
import { Connections, PendingResponses } from './connections';
import { OverloadCounts } from './refusals';

/** How long each request holds the event loop, as a commit of SQLite does on a slow disk. */
const HELD_MS = 15;
const REQUESTS = 12;

describe('Admission, when each request holds the event loop for almost as long as one may wait', () => {
  const clock = new SystemClock();
  const never = new Int32Array(new SharedArrayBuffer(4));
  let counts: OverloadCounts;
  let server: Server;
  let url: string;

  beforeEach(async () => {
    counts = new OverloadCounts();
    const pending = new PendingResponses();
    const connections = new Connections(1000, clock, counts, (socket) => pending.isBusy(socket));
    const limits = { maxInFlight: 1000, maxLagMs: 20 };
    const admission = new Admission(limits, connections, pending, clock, counts);
    server = createServer((_request, response) => {
      const answer = (): void => {
        Atomics.wait(never, 0, 0, HELD_MS);
        response.end('1');
      };
      admission.pass('id', () => 'client', response, answer);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function ask(): Promise<number> {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  }

  it('refuses none of four callers', async () => {
    const statuses: number[] = [];
    const call = async (): Promise<void> => {
      for (let request = 0; request < REQUESTS; request++) statuses.push(await ask());
    };
    await Promise.all([call(), call(), call(), call()]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await until('the end of all requests', () => counts.inFlight === 0);
  });
});
