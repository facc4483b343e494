import { METHODS } from 'node:http';
import { ApiContract, fetchApi } from '../../support/openapi/contract';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { call, rawCall } from '../../support/http/http';
import { routesOf } from '../../support/openapi/server-routes';
import { problemCode, refusalCode } from '../../support/http/problem';
import { expectServing } from '../../support/servers/serving';
import { startTestServer, type TestServer } from '../../support/servers/server';

/** Everything that anybody may ask. A route that is not here is not public, whoever adds it. */
const PUBLIC = [
  'GET /',
  'GET /api/cluster',
  'GET /api/cluster/workers',
  'GET /api/internal/time',
  'GET /api/monitor/overview',
  'GET /api/monitor/segments',
  'GET /api/monitor/snowflake',
  'GET /api/monitor/stream',
  'GET /api/numbers/:tag',
  'GET /api/numbers/:tag/:key',
  'GET /api/numbers/:tag/audit',
  'GET /api/segment/batch/:tag',
  'GET /api/segment/get/:tag',
  'GET /api/segment/period/:tag',
  'GET /api/segment/range/:tag',
  'GET /api/snowflake/batch/:key',
  'GET /api/snowflake/decode/:id',
  'GET /api/snowflake/get/:key',
  'GET /api/tags',
  'GET /api/tags/:tag',
  'GET /assets/:name',
  'GET /cache',
  'GET /db',
  'GET /decodeSnowflakeId',
  'GET /docs',
  'GET /docs/:name',
  'GET /health/live',
  'GET /health/ready',
  'GET /health/ready/segment',
  'GET /health/ready/snowflake',
  'GET /health/startup',
  'GET /metrics',
  'GET /openapi.json',
];
/** Everything that changes something. */
const ADMIN = [
  'DELETE /api/server/drain',
  'DELETE /api/server/clients/:name/block',
  'DELETE /api/tags/:tag',
  'PATCH /api/tags/:tag',
  'POST /api/cluster/orders',
  'POST /api/server/drain',
  'POST /api/server/clients/:name/block',
  'POST /api/tags',
  'POST /api/tags/:tag/continue',
  'POST /api/tags/:tag/pause',
  'POST /api/tags/:tag/resume',
];
/** Numbers of documents: for those who may take IDs. */
const NUMBERS = [
  'POST /api/numbers/:tag/:key/confirm',
  'POST /api/numbers/:tag/:key/void',
  'PUT /api/numbers/:tag',
  'PUT /api/numbers/:tag/:key',
];
/** For processes with a worker token. */
const WORKERS = ['DELETE /api/workers/:lease', 'GET /api/workers', 'POST /api/workers', 'PUT /api/workers/:lease'];
/** For other servers with the cluster token. */
const PEERS = ['GET /api/internal/server'];
/** QUERY is known to the parsers of newer releases of Node.js. */
const QUERY = METHODS.filter((method) => method === 'QUERY');
const VERBS = ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'LOCK', ...QUERY];
const TAG = 'leaf-segment-test';
const EVIL_HOST = 'evil.example"><script>alert(1)</script>';

let server: TestServer;
let routes: string[];
beforeAll(async () => {
  ({ started: server, routes } = await routesOf(() => startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN })));
});
afterEach(() => expectServing(server.port));
afterAll(() => server.stop());

function split(route: string): readonly [string, string] {
  const [method = '', path = ''] = route.split(' ');
  return [method, path.replace(/:(\w+)/g, (_, name: string) => (name === 'id' ? '1' : TAG))];
}

describe('the routes of the server', () => {
  it('are public or need a token, each of them as this list says', () => {
    expect(routes).toEqual([...PUBLIC, ...ADMIN, ...NUMBERS, ...WORKERS, ...PEERS].sort());
    // Who only looks changes nothing.
    expect(PUBLIC.filter((route) => !route.startsWith('GET '))).toStrictEqual([]);
  });

  it('that need a token refuse requests without an Authorization header, whatever else they contain', async () => {
    for (const route of ADMIN) {
      const [method, path] = split(route);
      for (const spelling of [path, `http://x${path}`, `${path}?token=${ADMIN_TOKEN}&access_token=${ADMIN_TOKEN}`]) {
        const headers = {
          'x-http-method-override': 'GET',
          'x-forwarded-for': `10.0.0.${spelling.length}`,
          cookie: `token=${ADMIN_TOKEN}`,
        };
        const answer = await call(server.port, spelling, { method, headers });
        expect(['LEAF_UNAUTHORIZED', 'LEAF_TOO_MANY_FAILURES']).toContain(problemCode(answer));
      }
    }
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await call(server.port, '/api/server/drain', { method });
      expect([status, headers.allow]).toEqual([405, 'DELETE, POST']);
    }
  });

  it('match only their exact paths', async () => {
    const spellings = [
      ...[
        '/API/server/drain',
        '/api/server/drain/',
        '//api/server/drain',
        '/api/./server/drain',
        '/api/x/../server/drain',
      ],
      ...[
        '/api%2Fserver%2Fdrain',
        '/api/server/drain;x',
        '/api/server/drain%00',
        '/api\\server\\drain',
        '/api/server/drain.json',
      ],
      ...['/health/../api/server/drain', '/metrics/../api/server/drain', '/api/server/%2e%2e/server/drain'],
    ];
    for (const path of spellings) {
      const { status } = await admin(server.port, 'POST', path);
      expect([path, status]).toEqual([path, 404]);
    }
  });

  it('let no other origin read or change anything', async () => {
    const origin = { origin: 'https://evil.example' };
    const asking = {
      ...origin,
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'authorization',
    };
    for (const [method, path] of [...PUBLIC, ...ADMIN].map(split)) {
      const { headers } = await call(server.port, path, { method, headers: origin });
      const preflight = await call(server.port, path, { method: 'OPTIONS', headers: asking });
      expect([path, preflight.status]).toEqual([path, 405]);
      const allowed = [...Object.keys(headers), ...Object.keys(preflight.headers)].filter((name) =>
        name.startsWith('access-control'),
      );
      expect(allowed).toStrictEqual([]);
    }
  });

  it('neither use nor repeat the host of a request, and do not redirect', async () => {
    for (const [method, path] of [...PUBLIC.filter((route) => !route.endsWith('/stream')), ...ADMIN].map(split)) {
      const forwarded =
        'X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: gopher\r\nForwarded: host=evil.example\r\n';
      const bytes = `${method} ${path} HTTP/1.1\r\nHost: ${EVIL_HOST}\r\n${forwarded}Connection: close\r\n\r\n`;
      const { status, headers, body } = await rawCall(server.port, bytes);
      expect([path, Math.floor(status / 100)]).not.toEqual([path, 3]);
      expect(headers).not.toHaveProperty('location');
      expect(JSON.stringify(headers) + body).not.toMatch(/evil|gopher/);
    }
  });

  it('are not cacheable, except the files of the console, and set no cookies', async () => {
    const { routes: described } = new ApiContract(await fetchApi(server.port));
    expect(described).toHaveLength(routes.length);
    for (const [method, path] of [...PUBLIC, ...ADMIN].map(split)) {
      const { status, headers } = await call(server.port, path, { method });
      expect([path, headers['cache-control']]).toEqual([path, expect.stringMatching(/^no-(store|cache)$/)]);
      expect([path, status, headers['set-cookie']]).toEqual([path, status, undefined]);
      if (headers['content-type']?.includes('html') === true) {
        expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
        expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
      }
    }
  });
});

describe('an unknown route', () => {
  const paths = [
    ...[
      '/no/such',
      '//',
      '//api/segment/get/x',
      `/api//segment/get/${TAG}`,
      `/api/segment/get/${TAG}/`,
      '/API/segment/get/x',
    ],
    ...[
      `/api/segment/get/${TAG}/more`,
      '/api/segment/../segment/get/x',
      '/.env',
      '/.git/config',
      '/index.php',
      '/%2e%2e/',
    ],
    ...['/api/segment/', '/metrics/', '/health', '/health/nothing', '/favicon.ico', '/<script>alert(1)'],
  ];

  it.each(paths)('%s is not found', async (path) => {
    expect(refusalCode(await call(server.port, path))).toBe('LEAF_NOT_FOUND');
  });

  it.each(VERBS)('is not found with the method %s', async (method) => {
    expect(refusalCode(await call(server.port, '/nothing', { method }))).toBe('LEAF_NOT_FOUND');
  });
});

describe('a method that a route does not have', () => {
  it.each(VERBS)('%s is refused, with the allowed methods in the response', async (method) => {
    for (const path of [`/api/segment/get/${TAG}`, '/api/snowflake/get/order', `/api/segment/batch/${TAG}?size=2`]) {
      const answer = await call(server.port, path, { method });
      expect([refusalCode(answer), answer.status]).toEqual(['LEAF_METHOD_NOT_ALLOWED', 405]);
      expect(answer.headers.allow).toBe('GET, HEAD');
    }
  });

  it('is refused by every route, with the allowed methods in the response', async () => {
    for (const path of new Set([...PUBLIC, ...ADMIN].map((route) => route.split(' ')[1] ?? ''))) {
      const isOf = (route: string): boolean => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
      const own = routes.flatMap((route) => {
        const [verb = '', pattern = ''] = route.split(' ');
        return isOf(pattern) ? [verb] : [];
      });
      const { status, headers } = await call(server.port, split(`TRACE ${path}`)[1], { method: 'TRACE' });
      const allowed = (headers.allow ?? '').split(', ').filter((method) => method !== 'HEAD');
      expect([path, status, allowed]).toEqual([path, 405, [...new Set(own)]]);
    }
  });
});
