import { call, rawCall } from '../../support/http/http';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';

const TAG = 'leaf-segment-test';
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

describe('the headers that keep a browser from harm', () => {
  it.each([
    ['a batch', `/api/segment/batch/${TAG}?size=2`],
    ['a decoded ID', '/api/snowflake/decode/1169786042799259000'],
    ['the tags', '/api/tags'],
    ['the time', '/api/internal/time'],
    ['the metrics', '/metrics'],
    ['the readiness', '/health/ready'],
    ['an unknown tag', '/api/segment/get/no-such-tag'],
    ['an unknown route', '/no/such/route'],
    ['a path that is no percent-encoding', '/api/segment/get/%zz'],
  ])('are on %s', async (_what, path) => {
    const { headers } = await call(server.port, path);
    expect(headers['content-security-policy']).toBe(DATA_POLICY);
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('are on the refusal of a change without a token', async () => {
    const { status, headers } = await call(server.port, `/api/tags/${TAG}`, { method: 'DELETE' });
    expect([status, headers['content-security-policy']]).toEqual([401, DATA_POLICY]);
  });

  it('are on what never reaches the framework', async () => {
    for (const bytes of ['NONSENSE\r\n\r\n', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n']) {
      const { status, headers } = await rawCall(server.port, bytes);
      expect([status, headers['content-security-policy']]).toEqual([400, DATA_POLICY]);
    }
  });

  it('of a single ID are those that are needed to take it for text', async () => {
    const { headers } = await call(server.port, '/api/snowflake/get/order');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers).not.toHaveProperty('content-security-policy');
  });
});

describe('what an answer does not tell', () => {
  it.each(['/api/', '/health/', '/assets/', '/.env', '/../package.json', '/dist/', '/node_modules/'])(
    '%s: what is in a directory',
    async (path) => {
      expect(problemCode(await call(server.port, path))).toBe('LEAF_NOT_FOUND');
    },
  );

  it('where in the code a fault is', async () => {
    const json = { 'content-type': 'application/json' };
    const answers = await Promise.all([
      call(server.port, '/api/segment/get/%zz'),
      call(server.port, '/api/tags', { method: 'POST', headers: json, body: '{' }),
      call(server.port, '/api/tags', { method: 'POST', headers: json, body: '{"__proto__":{"a":1}}' }),
      call(server.port, `/api/segment/range/${TAG}?size=x`),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(body).not.toMatch(/\bat .*:\d+|node_modules|\.[jt]s\b|stack/);
    }
  });

  it('which software answers', async () => {
    const { headers } = await call(server.port, '/api/tags');
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(server|x-powered-by)$/)]),
    );
  });
});
