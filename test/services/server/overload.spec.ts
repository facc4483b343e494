import { Agent } from 'node:http';
import { connect } from 'node:net';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { insertTag } from '../../support/servers/data-directory';
import { type Answer, call, text } from '../../support/http/http';
import { freshMetrics } from '../../support/http/metrics';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const TAG = 'leaf-segment-test';
const BATCH = `/api/segment/batch/${TAG}?size=10000`;

let server: TestServer | undefined;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await server?.stop();
  server = undefined;
});

async function start(env: NodeJS.ProcessEnv): Promise<number> {
  server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, ...env });
  return server.port;
}

async function metric(port: number, name: string): Promise<number> {
  const line = (await freshMetrics(port)).split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

const refusals = (port: number, reason: string): Promise<number> =>
  metric(port, `leaf_overload_refusals_total{reason="${reason}"}`);

/** All that operators and probes need. */
async function expectReachable(port: number): Promise<void> {
  for (const path of ['/health/live', '/health/ready', '/health/startup', '/metrics', '/api/internal/time']) {
    expect([path, (await call(port, path)).status]).toEqual([path, 200]);
  }
  expect((await admin(port, 'POST', '/api/server/drain')).status).toBe(200);
  expect((await admin(port, 'DELETE', '/api/server/drain')).status).toBe(200);
}

describe('requests that wait for a database', () => {
  let mariadb: MariadbServer;

  beforeAll(async () => (mariadb = await startMariadb()));
  afterAll(() => mariadb.stop());

  /** Its database no longer answers. */
  async function startStuck(maxInFlight: number): Promise<{ port: number; proxy: TcpProxy }> {
    const proxy = await TcpProxy.start(mariadb.port);
    closers.push(() => proxy.stop());
    const port = await start({
      LEAF_DATABASE_URL: (await mariadb.createDatabase()).replace(`:${mariadb.port}/`, `:${proxy.port}/`),
      LEAF_LOCAL_WORKERS: '{"*":0}',
      LEAF_MAX_IN_FLIGHT: String(maxInFlight),
      LEAF_SEGMENT_WAIT_MS: '60000',
    });
    proxy.blackhole();
    return { port, proxy };
  }

  it('beyond the limit are refused at once, and served again when it answers', async () => {
    const { port, proxy } = await startStuck(20);
    const waiting = Array.from({ length: 20 }, () => call(port, `/api/segment/get/${TAG}`));
    await until('as many as may wait', async () => (await metric(port, 'leaf_requests_in_flight')) === 20);

    for (const path of [`/api/segment/get/${TAG}`, BATCH, `/api/segment/range/${TAG}`, '/api/snowflake/batch/order']) {
      expect(problemCode(await call(port, path))).toBe('LEAF_OVERLOADED');
    }
    const head = await call(port, `/api/segment/get/${TAG}`, { method: 'HEAD' });
    expect([head.status, head.headers['retry-after'], head.body]).toEqual([503, '1', '']);
    expect(await refusals(port, 'in_flight')).toBe(5);
    expect(await metric(port, 'leaf_requests_in_flight')).toBe(20);
    await expectReachable(port);
    expect(await text(port, '/api/snowflake/get/order')).toMatch(/^[1-9]\d*$/);

    // A client that ignores Retry-After gets its next refusal later.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closers.push(() => agent.destroy());
    expect(problemCode(await call(port, BATCH, { agent }))).toBe('LEAF_OVERLOADED');
    let again = 0;
    // If the machine stands still meanwhile, the client has waited long enough.
    await until('a refusal that comes later', async () => {
      const askedAt = performance.now();
      expect(problemCode(await call(port, BATCH, { agent }))).toBe('LEAF_OVERLOADED');
      again++;
      return performance.now() - askedAt > 400;
    });
    expect(await refusals(port, 'in_flight')).toBe(6 + again);

    proxy.heal();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(20);
    await until('nobody waits', async () => (await metric(port, 'leaf_requests_in_flight')) === 0);
    expect((await call(port, BATCH)).status).toBe(200);
  });

  it('whose client is gone do not count any more; of a connection, one counts', async () => {
    const { port, proxy } = await startStuck(6);
    const clients = Array.from({ length: 6 }, () => {
      const client = connect(port, '127.0.0.1');
      client.write(`GET /api/segment/get/${TAG} HTTP/1.1\r\nhost: leaf\r\n\r\n`.repeat(6));
      return client;
    });
    await until('as many as may wait', async () => (await metric(port, 'leaf_requests_in_flight')) === 6);
    for (const client of clients) client.destroy();
    await until('nobody waits', async () => (await metric(port, 'leaf_requests_in_flight')) === 0);
    proxy.heal();
    expect((await call(port, BATCH)).status).toBe(200);
  });
});

describe('batches that are more than the processor can do', () => {
  const CLIENTS = 600;
  const WIDE = '/api/segment/batch/wide?size=10000';

  /** With a segment in memory that holds enough for all of them. */
  async function startWide(env: NodeJS.ProcessEnv): Promise<number> {
    const port = await start(env);
    insertTag(server!.directory, { tag: 'wide', step: 100_000_000 });
    await text(port, '/api/segment/get/wide');
    return port;
  }

  /** So many connections. */
  async function connectAll(port: number): Promise<Agent[]> {
    const agents = Array.from({ length: CLIENTS }, () => new Agent({ keepAlive: true }));
    closers.push(() => agents.forEach((agent) => agent.destroy()));
    for (const agent of agents) await text(port, '/api/snowflake/get/order', { agent });
    return agents;
  }

  /** One batch on each connection at the same moment, and again until one is refused, however fast the machine is. */
  async function askUntilRefused(port: number, agents: readonly Agent[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    while (answers.every(({ status }) => status === 200)) {
      answers.push(...(await Promise.all(agents.map((agent) => call(port, WIDE, { agent })))));
    }
    return answers;
  }

  it('are served or refused, and served again afterwards', async () => {
    const port = await startWide({ LEAF_MAX_LAG_MS: '1' });
    const asking = askUntilRefused(port, await connectAll(port));
    const live = await call(port, '/health/live');
    const answers = await asking;
    const refused = answers.filter(({ status }) => status !== 200);
    expect(live.status).toBe(200);
    expect(answers.length - refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(problemCode))).toEqual(new Set(['LEAF_OVERLOADED']));
    expect(await refusals(port, 'lag')).toBe(refused.length);
    const ids = answers.filter(({ status }) => status === 200).flatMap(({ body }) => (JSON.parse(body) as Ids).ids);
    expect(new Set(ids).size).toBe((answers.length - refused.length) * 10_000);
    expect((await call(port, WIDE)).status).toBe(200);
    expect(await metric(port, 'leaf_requests_in_flight')).toBe(0);
  });

  it('do not hold up a single ID', async () => {
    const port = await startWide({});
    let served = 0;
    const agents = await connectAll(port);
    const asked = agents.map((agent) =>
      call(port, WIDE, { agent }).then(({ status }) => (served += +(status === 200))),
    );
    await until('the first batch', () => served > 0);
    await text(port, '/api/snowflake/get/order');
    expect(served).toBeLessThan(CLIENTS);
    await Promise.all(asked);
    expect(served).toBe(CLIENTS);
  });
});

interface Ids {
  readonly ids: string[];
}
