import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { FakeClock } from '@leaf-ids/core/testing';
import type { EmbeddedIdService } from '@leaf-ids/id';
import { call } from '../../../../test/support/http/http';
import { IdQuota } from '../clients/client-access';
import { Drain } from '../lifecycle/drain';
import { FastPath, JSON_TYPE, TEXT_TYPE } from './fast-path';
import { OverloadCounts } from './overload/refusals';
import { RequestCounts } from './request-counts';

const RANGE = { from: 1n, to: 2n };
/** IDs that are always in memory. */
const IDS: Partial<EmbeddedIdService> = {
  tryNext: () => 1n,
  trySnowflakeString: () => '1169786042799259000',
  tryRanges: () => [RANGE],
  trySnowflakeRange: () => RANGE,
};

describe('FastPath', () => {
  const clock = new FakeClock();
  let counts: RequestCounts;
  let drain: Drain;
  let server: Server;
  let port: number;

  beforeEach(async () => {
    drain = new Drain(clock, 0);
    counts = new RequestCounts(clock);
    const fastPath = new FastPath(counts, drain, 'number', clock, new OverloadCounts(), 100);
    const unlimited = new IdQuota(Infinity, clock);
    fastPath.serve(IDS as EmbeddedIdService, { tryCharge: () => unlimited });
    server = createServer((request, response) => {
      if (!fastPath.answer(request, response)) response.writeHead(501).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const ROUTES = [
    '/api/segment/get/order',
    '/api/snowflake/get/order',
    '/api/segment/batch/order?size=2',
    '/api/segment/range/order?size=2&nonce=a',
    '/api/snowflake/batch/order?size=2',
  ] as const;

  it.each(ROUTES)('%s is answered while the server drains, and ends its connection', async (path) => {
    const headers = { connection: 'keep-alive' };
    const before = await call(port, path, { headers });
    drain.begin();
    const during = await call(port, path, { headers });
    expect(during).toEqual({ ...before, headers: { ...during.headers, connection: 'close' } });
    expect([before.status, before.headers.connection, during.headers.connection]).toEqual([200, 'keep-alive', 'close']);
    expect(during.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': before.headers['content-type'],
    });
    drain.undo();
    expect((await call(port, path, { headers })).headers.connection).toBe('keep-alive');
  });

  it('each response while the server drains ends its connection', async () => {
    drain.begin();
    for (let time = 0; time < 3; time++) {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /api/segment/get/order HTTP/1.1\r\nHost: leaf\r\n\r\n');
      // The client does not end the connection, so the server has to.
      expect(await text(socket)).toMatch(/\r\nconnection: close\r\n/i);
    }
  });

  it('a single ID is JSON for a client that wants it first, and text for others', async () => {
    for (const path of ['/api/segment/get/order', '/api/snowflake/get/order']) {
      const [json, plain] = await Promise.all([
        call(port, path, { headers: { accept: 'application/json' } }),
        call(port, path, { headers: { accept: 'text/plain, application/json' } }),
      ]);
      expect([json.headers['content-type'], plain.headers['content-type']]).toEqual([JSON_TYPE, TEXT_TYPE]);
      expect(json.body).toBe(plain.body);
    }
    const batch = await call(port, '/api/segment/batch/order?size=2', { headers: { accept: 'text/plain' } });
    expect(batch).toMatchObject({ headers: { 'content-type': JSON_TYPE }, body: '{"tag":"order","ids":["1","2"]}' });
  });

  it('all but GET is left to the ordinary routes', async () => {
    for (const method of ['POST', 'DELETE']) expect((await call(port, ROUTES[0], { method })).status).toBe(501);
    expect(counts.all().map(({ requests }) => requests)).toEqual([0, 0, 0, 0, 0]);
  });

  it('each answer is counted on its route', async () => {
    for (const path of ROUTES) await call(port, path);
    await call(port, ROUTES[0]);
    await call(port, '/api/segment/batch/order');
    expect(counts.all().map(({ route, status, requests }) => [route, status, requests])).toEqual([
      ['/api/segment/get/:tag', 200, 2],
      ['/api/snowflake/get/:key', 200, 1],
      ['/api/segment/batch/:tag', 200, 1],
      ['/api/segment/range/:tag', 200, 1],
      ['/api/snowflake/batch/:key', 200, 1],
    ]);
  });

  it.each(['?Size=2', '?size[]=2', '?size=2&Size=3', '?size=2&size=2', '?size=02', '?size=2&nonce=a&size=3', ''])(
    'a batch with %j is left to the ordinary route',
    async (query) => {
      for (const path of ['/api/segment/batch/order', '/api/segment/range/order', '/api/snowflake/batch/order']) {
        expect((await call(port, path + query)).status).toBe(501);
      }
    },
  );

  it('the tags . and .. are left to the ordinary route', async () => {
    for (const tag of ['.', '..']) {
      for (const path of [`/api/snowflake/get/${tag}`, `/api/snowflake/batch/${tag}?size=2`]) {
        expect((await call(port, path)).status).toBe(501);
      }
    }
  });

  it('gives the quota back for IDs that it does not give', async () => {
    const quota = new IdQuota(2, clock);
    const fastPath = new FastPath(new RequestCounts(clock), drain, 'number', clock, new OverloadCounts(), 100);
    const refusal = new Error('refused');
    const without: Partial<EmbeddedIdService> = {
      tryNext: () => undefined,
      isStrict: () => true,
      nextIdString: () => Promise.reject(refusal),
    };
    fastPath.serve(without as EmbeddedIdService, {
      tryCharge: (_, __, count) => (quota.take(count) ? quota : undefined),
    });
    const one = fastPath.callOf('/api/segment/get/order')!;
    for (let time = 0; time < 3; time++) {
      expect(fastPath.tryTake(one, undefined, false)).toBeUndefined();
      await expect(fastPath.take(one, undefined, false)).rejects.toBe(refusal);
    }
    expect([quota.take(1), quota.take(1), quota.take(1)]).toEqual([true, true, false]);
  });
});
