import { once } from 'node:events';
import { connect } from 'node:net';
import { call, text } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { LogLines } from '../support/log-lines';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const SEGMENT = `/api/segment/get/${TAG}`;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

let server: TestServer;
let log: LogLines;

async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
  log = new LogLines();
  server = await startTestServer({ LEAF_LOG_LEVEL: 'info', LEAF_LOG_FORMAT: 'json', ...env });
}

afterEach(async () => {
  await server.stop();
  log.end();
});

const lines = (): Record<string, unknown>[] => log.entries.filter(({ context }) => context === 'Access');

/** The line of the next request, once it is written. */
async function lineOf(request: () => Promise<unknown>): Promise<Record<string, unknown>> {
  const before = lines().length;
  await request();
  await until('the line', () => lines().length > before);
  return lines()[before] ?? {};
}

describe('the access log', () => {
  it('is off by default', async () => {
    await start();
    await text(server.port, SEGMENT);
    await call(server.port, '/no-such-route');
    expect(lines()).toStrictEqual([]);
  });

  it('has a line for each request: fast, ordinary, refused, invalid', async () => {
    await start({ LEAF_ACCESS_LOG: 'all' });
    const common = { level: 'info', message: 'Request', address: '127.0.0.1', requestId: expect.any(String) };
    await text(server.port, SEGMENT);
    for (const [path, route, status] of [
      [SEGMENT, '/api/segment/get/:tag', 200],
      [`/api/segment/batch/${TAG}?size=3&secret=1`, '/api/segment/batch/:tag', 200],
      ['/api/snowflake/get/order', '/api/snowflake/get/:key', 200],
      ['/health/live', '/health/live', 200],
      ['/api/tags/none', '/api/tags/:tag', 404],
      ['/no/such/route', 'unknown', 404],
    ] as const) {
      const line = await lineOf(() => call(server.port, path));
      expect(line).toMatchObject({ ...common, method: 'GET', route, status });
      expect(line.ms).toBeGreaterThan(0);
      expect(line.bytes).toBeGreaterThan(100);
      expect(line.bytes).toBeLessThan(2000);
    }
    expect(log.all.join('\n')).not.toContain('secret');
    const invalid = await lineOf(() => call(server.port, SEGMENT, { headers: { 'transfer-encoding': 'gzip' } }));
    expect(invalid).toMatchObject({ ...common, status: 400 });
  });

  it('says when the client has gone before its response', async () => {
    await start({ LEAF_ACCESS_LOG: 'all' });
    const line = await lineOf(async () => {
      const client = connect(server.port, '127.0.0.1');
      client.write('GET /api/monitor/stream HTTP/1.1\r\nhost: leaf\r\n\r\n');
      await once(client, 'data');
      client.destroy();
    });
    expect(line).toMatchObject({ route: '/api/monitor/stream', status: 200, aborted: true });
  });

  it('has slow requests only, or a share of them', async () => {
    await start({ LEAF_ACCESS_LOG: 'slow', LEAF_ACCESS_LOG_SLOW_MS: '60000' });
    for (let n = 0; n < 20; n++) await text(server.port, SEGMENT);
    expect(lines()).toStrictEqual([]);
    await server.stop();
    log.end();
    await start({ LEAF_ACCESS_LOG: 'sampled', LEAF_ACCESS_LOG_RATIO: '0.5' });
    for (let n = 0; n < 200; n++) await text(server.port, SEGMENT);
    expect(lines().length).toBeGreaterThan(50);
    expect(lines().length).toBeLessThan(150);
  });

  it('has the address that a trusted proxy names, and the request ID', async () => {
    await start({ LEAF_ACCESS_LOG: 'all', LEAF_TRUSTED_PROXIES: '127.0.0.1' });
    const headers = { 'x-forwarded-for': '203.0.113.7', 'x-request-id': 'r-17' };
    const line = await lineOf(() => call(server.port, SEGMENT, { headers }));
    expect(line).toMatchObject({ address: '203.0.113.7', requestId: 'r-17' });
  });
});

describe('the request ID of an error', () => {
  it.each([
    ['the trace ID', { traceparent: TRACEPARENT, 'x-request-id': 'r-17' }, TRACE],
    ['the request header', { 'x-request-id': 'r-17' }, 'r-17'],
    ['the request header, if the trace is invalid', { traceparent: 'no', 'x-request-id': 'r-17' }, 'r-17'],
  ])('is %s', async (_what, headers, expected) => {
    await start({ LEAF_ACCESS_LOG: 'all' });
    const line = await lineOf(async () => {
      const answer = await call(server.port, '/api/tags/none', { headers });
      expect(problemCode(answer)).toBe('LEAF_TAG_NOT_FOUND');
      expect(answer.headers['x-request-id']).toBe(expected);
    });
    expect(line.requestId).toBe(expected);
  });

  it.each([undefined, '', 'a b', 'x'.repeat(129), '"}', '<b>'])('is made in place of %j', async (given) => {
    await start({ LEAF_ACCESS_LOG: 'all' });
    const headers = given === undefined ? {} : { 'x-request-id': given };
    let made: unknown;
    const line = await lineOf(async () => {
      const answer = await call(server.port, '/no-such-route', { headers });
      expect(problemCode(answer)).toBe('LEAF_NOT_FOUND');
      made = answer.headers['x-request-id'];
      expect(made).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    });
    expect(line.requestId).toBe(made);
  });

  it('is not in a response without an error', async () => {
    await start();
    for (const path of [SEGMENT, '/api/snowflake/get/order', '/api/tags']) {
      const { status, headers } = await call(server.port, path, { headers: { traceparent: TRACEPARENT } });
      expect([status, headers['x-request-id']]).toEqual([200, undefined]);
    }
  });
});
