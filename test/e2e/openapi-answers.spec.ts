import { randomBytes } from 'node:crypto';
import { changeWorkers, insertTag, makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { ADMIN_TOKEN } from '../support/http/admin';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { EventReader } from '../support/http/event-reader';
import { type Answer, call, type Call } from '../support/http/http';
import { ApiContract, fetchApi } from '../support/openapi/contract';
import { CLUSTER_TOKEN, signedFor } from '../support/servers/cluster-rig';
import { startTestServer, type TestServer } from '../support/servers/server';

const JSON_TYPE = 'application/json';
const AUTHORIZATION = { authorization: `Bearer ${ADMIN_TOKEN}` };
const WORKER_TOKEN = 'worker-token-0123456789';
const REPORT = '/api/internal/server';
const FIRST = 'leaf-segment-test';
const STREAM = '/api/monitor/stream';
const ID_ROUTES = { get: 'takeSegmentId', batch: 'takeSegmentIds', range: 'takeSegmentRanges' };
/** The document says so. */
const MAX_STREAMS = 32;

let server: TestServer;
let directory: string;
let contract: ApiContract;
/** Status of every answer that was checked, by operation. */
const seen = new Map<string, Set<number>>();

beforeAll(async () => {
  directory = await makeDataDirectory();
  server = await startTestServer({
    ...{ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_WORKER_TOKENS: WORKER_TOKEN, LEAF_WORKER_WINDOWS: '1' },
    ...{ LEAF_CLUSTER_TOKEN: CLUSTER_TOKEN, LEAF_ADVERTISE_HOST: '127.0.0.1', LEAF_ADVERTISE_PORT: '8080' },
    ...{ LEAF_DATA_DIR: directory, LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite` },
    LEAF_SNOWFLAKE_REGISTRY: 'database',
  });
  contract = new ApiContract(await fetchApi(server.port));
});

afterAll(async () => {
  await server.stop();
  await removeDataDirectory(directory);
});

/** Checks that an answer has the status, and is one that the document promises for the operation. */
function check(operationId: string, answer: Answer, status: number): void {
  const route = contract.route(operationId);
  expect([operationId, answer.status, answer.body]).toEqual([operationId, status, answer.body]);
  expect([operationId, contract.faultOf(route, answer)]).toEqual([operationId, undefined]);
  seen.set(operationId, (seen.get(operationId) ?? new Set()).add(status));
}

/** Calls an operation on `path`, which is the operation's with its parameters filled in. */
async function ask(
  operationId: string,
  path: string,
  status: number,
  options: Call = {},
  port = server.port,
): Promise<void> {
  const { method } = contract.route(operationId);
  const authorization = options.headers && authorizationOf(path);
  const headers = { ...options.headers, ...(authorization !== undefined && { authorization }) };
  check(operationId, await call(port, path, { method, ...options, headers }), status);
}

/** Of the routes that take no admin token. */
function authorizationOf(path: string): string | undefined {
  if (path === REPORT) return signedFor('127.0.0.1:8080', 'GET', REPORT);
  return path.startsWith('/api/workers') ? `Bearer ${WORKER_TOKEN}` : undefined;
}

/** Valid bodies, of operations that do not take those of tags. */
const BODIES: Readonly<Record<string, object>> = {
  issueNumber: {},
  issueNumbers: { keys: ['a'] },
  voidNumber: { reason: 'mistake' },
  continueTag: { lastNumber: '1', reason: 'restored' },
};

function withToken(body?: unknown): Call {
  return body === undefined ? { headers: AUTHORIZATION } : sending(JSON.stringify(body));
}

/** @param length that is told; of a DELETE, Node's client would tell none */
function sending(body: string, type = JSON_TYPE, length = Buffer.byteLength(body)): Call {
  const headers = { ...AUTHORIZATION, 'content-type': type, 'content-length': length };
  return { headers, body };
}

describe('every answer is as the document says', () => {
  it('IDs', async () => {
    await ask('takeSegmentId', `/api/segment/get/${FIRST}`, 200);
    // An encoded character keeps the call from the fast route.
    await ask('takeSegmentId', '/api/segment/get/leaf-segment-tes%74', 200);
    await ask('takeSegmentIds', `/api/segment/batch/${FIRST}?size=3`, 200);
    await ask('takeSegmentRanges', `/api/segment/range/${FIRST}?size=5000`, 200);
    insertTag(server.directory, { tag: 'invoice', step: 100, reset: 'daily' });
    await ask('takePeriodNumbers', '/api/segment/period/invoice?size=5000', 200);
    await ask('takePeriodNumbers', `/api/segment/period/invoice?at=${new Date().toISOString()}`, 200);
    await ask('takePeriodNumbers', '/api/segment/period/invoice?format={YYYY}{MM}{DD}{seq:5}', 200);
    await ask('takePeriodNumbers', '/api/segment/period/invoice?format={seq}', 400);
    await ask('takePeriodNumbers', '/api/segment/period/invoice?at=2020-01-01T00:00:00Z', 400);
    await ask('takePeriodNumbers', `/api/segment/period/${FIRST}`, 409);
    for (const [route, operationId] of Object.entries(ID_ROUTES)) {
      await ask(operationId, `/api/segment/${route}/invoice`, 409);
    }
    await ask('takeSnowflakeId', '/api/snowflake/get/order', 200);
    await ask('takeSnowflakeIds', '/api/snowflake/batch/order?size=3', 200);
    await ask('decodeSnowflakeId', '/api/snowflake/decode/1169786042799259000', 200);
  });

  it('routes without a path parameter or a token', async () => {
    const simple = contract.routes.filter(
      ({ method, path, operation }) => method === 'GET' && !path.includes('{') && operation.security === undefined,
    );
    expect(simple.length).toBeGreaterThan(8);
    for (const { path, operation } of simple) {
      const query = (operation.parameters ?? []).map(({ name, schema }) => `${name}=${String(schema.example)}`);
      // From sources there is no console.
      const status = operation.operationId === 'console' ? 404 : 200;
      await ask(operation.operationId, `${path}?${query.join('&')}`, status);
    }
  });

  it('the console', async () => {
    const built = new BuiltServers();
    try {
      await ensureBuilt();
      const { port } = await built.start(await built.makeDirectory());
      const { headers, body } = await call(port, '/');
      await ask('console', '/', 200, {}, port);
      await ask('console', '/', 304, { headers: { 'if-none-match': headers.etag } }, port);
      const assets = [...body.matchAll(/assets\/[\w.-]+/g)].map(([name]) => `/${name}`);
      expect(assets.length).toBeGreaterThan(1);
      for (const asset of assets) await ask('consoleAsset', asset, 200, {}, port);
      await ask('consoleAsset', '/assets/none.js', 404, {}, port);
    } finally {
      await built.end();
    }
  });

  it('the files of the page about the API', async () => {
    await ask('docsFile', '/docs/swagger-ui.css', 200);
    await ask('docsFile', '/docs/none.js', 404);
  });

  it('tags', async () => {
    await ask('createTag', '/api/tags', 201, withToken({ tag: 'order', step: 10, maxId: '5', description: 'orders' }));
    await ask('createTag', '/api/tags', 409, withToken({ tag: 'order', step: 10 }));
    await ask('createTag', '/api/tags', 400, withToken({ tag: 'order', step: 0 }));
    await ask('createTag', '/api/tags', 400, withToken({ tag: 'an order', step: 10 }));
    await ask('listTags', '/api/tags', 200);
    await ask('findTag', '/api/tags/order', 200);
    await ask('findTag', '/api/tags/unknown', 404);
    await ask('changeTag', '/api/tags/order', 200, withToken({ step: 20 }));
    await ask('changeTag', '/api/tags/order', 400, withToken({}));
    await ask('changeTag', '/api/tags/order', 409, withToken({ maxId: '1' }));
    await ask('changeTag', '/api/tags/unknown', 404, withToken({ step: 1 }));
    await ask('pauseTag', '/api/tags/order/pause', 200, withToken());
    await ask('takeSegmentId', '/api/segment/get/order', 503);
    await ask('takeSegmentIds', '/api/segment/batch/order', 503);
    await ask('resumeTag', '/api/tags/order/resume', 200, withToken());
    await ask('pauseTag', '/api/tags/unknown/pause', 404, withToken());
    await ask('resumeTag', '/api/tags/unknown/resume', 404, withToken());
    await ask('deleteTag', '/api/tags/order', 204, withToken());
    await ask('deleteTag', '/api/tags/order', 404, withToken());
    await ask('createTag', '/api/tags', 409, withToken({ tag: 'order', step: 1, maxId: '1' }));
  });

  it('numbers', async () => {
    await ask(
      'createTag',
      '/api/tags',
      201,
      withToken({ tag: 'bill', order: 'gapless', reset: 'daily', pattern: '{YYYY}{MM}{DD}{seq}' }),
    );
    await ask('issueNumber', '/api/numbers/bill/a', 201, withToken({}));
    await ask('issueNumber', '/api/numbers/bill/a', 200, withToken({}));
    await ask('issueNumber', '/api/numbers/bill/a', 409, withToken({ at: new Date(Date.now() - 2e8).toISOString() }));
    await ask('issueNumbers', '/api/numbers/bill', 201, withToken({ keys: ['a', 'b'] }));
    await ask('issueNumbers', '/api/numbers/bill', 200, withToken({ keys: ['a', 'b'] }));
    await ask('confirmNumber', '/api/numbers/bill/a/confirm', 200, withToken());
    await ask('voidNumber', '/api/numbers/bill/a/void', 409, withToken({ reason: 'mistake' }));
    await ask('voidNumber', '/api/numbers/bill/b/void', 200, withToken({ reason: 'mistake' }));
    await ask('confirmNumber', '/api/numbers/bill/b/confirm', 409, withToken());
    await ask('deleteTag', '/api/tags/bill', 409, withToken());
    await ask('findNumber', '/api/numbers/bill/b', 200);
    await ask('listNumbers', '/api/numbers/bill?state=void', 200);
    await ask('auditNumbers', '/api/numbers/bill/audit', 200);
    await ask('continueTag', '/api/tags/bill/continue', 200, withToken({ lastNumber: '3', reason: 'paper' }));
    await ask('continueTag', '/api/tags/bill/continue', 409, withToken({ lastNumber: '1', reason: 'paper' }));
    for (const [operationId, path, body] of [
      ['issueNumber', '/a', {}],
      ['issueNumbers', '', BODIES.issueNumbers],
      ['confirmNumber', '/a/confirm'],
      ['voidNumber', '/a/void', BODIES.voidNumber],
      ['findNumber', '/a'],
      ['listNumbers', ''],
      ['auditNumbers', '/audit'],
    ] as const) {
      await ask(operationId, `/api/numbers/unknown${path}`, 404, withToken(body));
      await ask(operationId, `/api/numbers/${FIRST}${path}`, 409, withToken(body));
    }
    await ask('continueTag', '/api/tags/unknown/continue', 404, withToken(BODIES.continueTag));
    for (const [route, operationId] of Object.entries(ID_ROUTES)) {
      await ask(operationId, `/api/segment/${route}/bill`, 409);
    }
  });

  it('worker windows', async () => {
    const [lease, other] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    await ask('acquireWorker', '/api/workers', 201, withToken({ lease, holder: 'billing' }));
    await ask('acquireWorker', '/api/workers', 200, withToken({ lease, holder: 'billing' }));
    await ask('acquireWorker', '/api/workers', 409, withToken({ lease: other, holder: 'billing' }));
    await ask('listWorkers', '/api/workers', 200, withToken());
    await ask('extendWorker', `/api/workers/${lease}`, 200, withToken({ windowMs: 20_000 }));
    await ask('extendWorker', `/api/workers/${other}`, 404, withToken({}));
    await changeWorkers(
      directory,
      `UPDATE leaf_worker_pool SET lease_id = 'another.1' WHERE lease_id LIKE '${lease}%'`,
    );
    await ask('extendWorker', `/api/workers/${lease}`, 409, withToken({}));
    await ask('releaseWorker', `/api/workers/${lease}`, 204, withToken({ lastTimestamp: 0 }));
    await ask('releaseWorker', '/api/workers/order', 404, withToken({}));
  });

  it('another server of the cluster', () => ask('serverReport', REPORT, 200, withToken()));

  it('a command to the cluster', async () => {
    await ask('orderCluster', '/api/cluster/orders', 200, withToken({ order: 'resume-tag', tag: FIRST }));
    await ask('orderCluster', '/api/cluster/orders', 400, withToken({ order: 'resume-tag' }));
  });

  it('a drain', async () => {
    await ask('drain', '/api/server/drain', 200, withToken());
    await ask('ready', '/health/ready', 503);
    await ask('takeSegmentId', `/api/segment/get/${FIRST}`, 200);
    await ask('undoDrain', '/api/server/drain', 200, withToken());
  });

  it('a tag without IDs', async () => {
    insertTag(server.directory, { tag: 'broken', step: 0 });
    await ask('takeSegmentId', '/api/segment/get/broken', 503);
    await ask('createTag', '/api/tags', 201, withToken({ tag: 'used-up', step: 1, maxId: '9223372036854775807' }));
    await ask('takeSegmentRanges', '/api/segment/range/used-up?size=9', 503);
  });

  it('the events of the stream, and the refusal of one too many', async () => {
    const readers = [await EventReader.open(server.port, STREAM)];
    try {
      for (const [name, schema] of [
        ['overview', 'MonitorOverview'],
        ['segments', 'MonitorSegments'],
        ['snowflake', 'MonitorSnowflake'],
      ] as const) {
        const event = await readers[0]?.next(name);
        expect(contract.mismatch({ $ref: `#/components/schemas/${schema}` }, event)).toBeUndefined();
      }
      while (readers.length < MAX_STREAMS) {
        readers.push(await EventReader.open(server.port, STREAM, `127.0.0.${1 + (readers.length % 2)}`));
      }
      await ask('monitorStream', STREAM, 503);
    } finally {
      for (const reader of readers) reader.close();
    }
  });

  it('invalid requests', async () => {
    for (const { path, method, operation } of contract.routes) {
      const { operationId } = operation;
      const fill = (value: string): string => path.replace(/\{\w+\}/g, value);
      if (path.includes('{')) {
        await ask(operationId, fill('%zz'), 400, withToken());
        await ask(
          operationId,
          fill('%20'),
          ['consoleAsset', 'docsFile', 'blockClient', 'unblockClient'].includes(operationId) ? 404 : 400,
          withToken(operation.requestBody === undefined ? undefined : { step: 1 }),
        );
        await ask(operationId, fill('x'.repeat(2000)), 414, withToken());
      }
      if (method === 'GET') continue;
      await ask(operationId, fill('order'), 415, sending('a,b', 'text/csv'));
      await ask(operationId, fill('order'), 400, sending('{'));
      await ask(operationId, fill('order'), 413, sending('{', JSON_TYPE, 66_000));
    }
    for (const [operationId, path] of [
      ['takeSegmentIds', '/api/segment/batch/x?size=0'],
      ['takeSegmentRanges', '/api/segment/range/x?size=a'],
      ['takeSnowflakeIds', '/api/snowflake/batch/x?size=10001'],
      ['decodeAsJava', '/decodeSnowflakeId'],
    ] as const) {
      await ask(operationId, path, 400);
    }
    for (const [route, operationId] of Object.entries({ ...ID_ROUTES, period: 'takePeriodNumbers' })) {
      await ask(operationId, `/api/segment/${route}/unknown`, 404);
    }
  });

  it('a client that is blocked, and admitted again', async () => {
    const other = await startTestServer({
      LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
      LEAF_CLIENT_TOKENS: `billing:${randomBytes(32).toString('hex')}`,
    });
    try {
      for (const operationId of ['blockClient', 'unblockClient']) {
        await ask(operationId, '/api/server/clients/billing/block', 200, withToken(), other.port);
      }
    } finally {
      await other.stop();
    }
  });

  it('requests without a token, up to the limit of failures', async () => {
    const guarded = contract.routes.filter(({ operation }) => operation.security !== undefined);
    const areas = [/^\/api\/workers/, /^\/api\/internal/, /^\/api\/(?!workers|internal)/];
    for (const area of areas) {
      const routes = guarded.filter(({ path }) => area.test(path));
      for (let time = 0; time < 10 + routes.length; time++) {
        const { path, operation } = routes[time % routes.length]!;
        await ask(operation.operationId, path.replace(/\{\w+\}/g, 'order'), time < 10 ? 401 : 429);
      }
    }
  });

  it.each([
    ['LEAF_SEGMENT_DISABLED', 'LEAF_SEGMENT_ENABLED', 10],
    ['LEAF_SNOWFLAKE_DISABLED', 'LEAF_SNOWFLAKE_ENABLED', 4],
  ])('a mode that is off: %s', async (code, variable, least) => {
    const other = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, [variable]: 'false' });
    try {
      const concerned = contract.routes.filter(({ operation }) => JSON.stringify(operation).includes(code));
      expect(concerned.length).toBeGreaterThanOrEqual(least);
      for (const { path, operation } of concerned) {
        const tag = path.includes('{') ? {} : { tag: 'order' };
        const valid = BODIES[operation.operationId] ?? { step: 1, ...tag };
        const body = operation.requestBody === undefined ? undefined : valid;
        const query = operation.parameters?.some(({ name }) => name === 'snowflakeId') ? '?snowflakeId=5' : '';
        const url = path.replace(/\{\w+\}/g, '5') + query;
        await ask(operation.operationId, url, 501, withToken(body), other.port);
      }
      for (const part of ['Overview', 'Segments', 'Snowflake']) {
        await ask(`monitor${part}`, `/api/monitor/${part.toLowerCase()}`, 200, {}, other.port);
      }
    } finally {
      await other.stop();
    }
  });

  it('of every operation: its success, and a refusal where its own are documented', () => {
    for (const { operation } of contract.routes) {
      const { operationId, responses } = operation;
      const statuses = [...(seen.get(operationId) ?? [])];
      const promised = Object.keys(responses).map(Number);
      expect([operationId, statuses.some((status) => status < 300)]).toEqual([operationId, true]);
      const refusals = promised.filter((status) => status === 404 || status === 409 || status === 501);
      expect([operationId, refusals.filter((status) => !statuses.includes(status))]).toEqual([operationId, []]);
    }
  });
});
