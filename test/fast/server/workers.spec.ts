import { randomBytes } from 'node:crypto';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { type Answer, call } from '../../support/http/http';
import { problemCode } from '../../support/http/problem';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startTestServer, type TestServer } from '../../support/servers/server';

const TOKEN = 'worker-token-0123456789';
const ENV = {
  LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
  LEAF_WORKER_TOKENS: TOKEN,
  LEAF_SNOWFLAKE_REGISTRY: 'database',
};
const HOUR = 3_600_000;

interface Window {
  readonly workerId: number;
  readonly from: number;
  readonly until: number;
  readonly now: number;
}

let server: TestServer;
let directory: string;
beforeAll(async () => void (directory = await makeDataDirectory()));
afterAll(() => removeDataDirectory(directory));

/** The servers of this file use the same registry, one after the other. */
async function start(env: NodeJS.ProcessEnv): Promise<void> {
  const files = { LEAF_DATA_DIR: directory, LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite` };
  server = await startTestServer({ ...files, ...env });
}

const newLease = (): string => randomBytes(16).toString('hex');
const ask = (method: string, path = '', body?: unknown, token: string | null = TOKEN): Promise<Answer> =>
  admin(server.port, method, `/api/workers${path}`, body, token);
const post = (lease: string, more: object = {}): Promise<Answer> =>
  ask('POST', '', { lease, holder: 'billing-7d9f', ...more });
const ownWorker = async (): Promise<number> => {
  const { body: id } = await call(server.port, '/api/snowflake/get/order');
  return windowOf(await call(server.port, `/api/snowflake/decode/${id}`)).workerId;
};
const windowOf = ({ body }: Answer): Window => JSON.parse(body) as Window;

describe('The worker windows', () => {
  beforeAll(() => start({ ...ENV, LEAF_WORKER_WINDOWS: '22' }));
  afterAll(() => server.stop());

  it('are acquired, extended and released', async () => {
    const lease = newLease();
    const first = await post(lease);
    expect(first).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    const window = windowOf(first);
    expect(window).toEqual({
      ...{ lease, workerId: expect.any(Number) as number, from: expect.any(Number) as number },
      ...{ until: expect.any(Number) as number, now: expect.any(Number) as number },
      layout: { epoch: 1_288_834_974_657, timeBits: 41, workerBits: 10, sequenceBits: 12 },
    });
    expect(window.until - window.now).toBeLessThanOrEqual(60_000);
    expect(window.from).toBeLessThanOrEqual(window.now);

    const again = await post(lease.toUpperCase(), { windowMs: HOUR });
    expect(again.status).toBe(200);
    expect(windowOf(again)).toMatchObject({ lease, workerId: window.workerId, from: window.from });

    const extended = await ask('PUT', `/${lease}`, { windowMs: 2 * HOUR, workerId: window.workerId });
    expect(extended.status).toBe(200);
    expect(windowOf(extended).until).toBeGreaterThan(windowOf(again).until);
    expect((await ask('PUT', `/${lease}`)).status).toBe(200);

    const { until: known } = windowOf(await ask('PUT', `/${lease}`, { windowMs: 2 * HOUR }));
    const mark = (known + 1) % 1000;
    const marked = await ask('PUT', `/${lease}`, { windowMs: 3 * HOUR, known, mark });
    expect(windowOf(marked).until % 1000).toBe(mark);
    const copied = await ask('PUT', `/${lease}`, { known, mark: (known + 2) % 1000 });
    expect([copied.status, problemCode(copied)]).toEqual([409, 'LEAF_LEASE_LOST']);
    expect(copied.body).toContain('one is a copy of the other');

    const late = await ask('DELETE', `/${lease}`, { lastTimestamp: windowOf(marked).until + 1 });
    expect([late.status, problemCode(late)]).toEqual([400, 'LEAF_BODY_INVALID']);
    for (let time = 0; time < 2; time++) {
      expect(await ask('DELETE', `/${lease}`, { lastTimestamp: window.from })).toMatchObject({ status: 204, body: '' });
    }
    const gone = await ask('PUT', `/${lease}`, {});
    expect([gone.status, problemCode(gone)]).toEqual([404, 'LEAF_LEASE_NOT_FOUND']);
  });

  // Its worker ID stays reserved, and counts, as that of the next test.
  it('are released without a body', async () => {
    const lease = newLease();
    await post(lease);
    expect((await ask('DELETE', `/${lease}`)).status).toBe(204);
  });

  it('are listed without their leases, for worker tokens and admin tokens', async () => {
    const lease = newLease();
    const { workerId, from, until } = windowOf(await post(lease));
    for (const token of [TOKEN, ADMIN_TOKEN]) {
      const list = await ask('GET', '', undefined, token);
      expect(list.status).toBe(200);
      expect(list.body).not.toContain(lease);
      const { workers } = JSON.parse(list.body) as { workers: object[] };
      expect(workers).toContainEqual({ workerId, holder: 'billing-7d9f', from, until });
    }
    await ask('DELETE', `/${lease}`);
  });

  it('issue with worker IDs that differ from each other and from the one of the server', async () => {
    const leases = Array.from({ length: 20 }, newLease);
    const answers = await Promise.all(leases.map((lease) => post(lease)));
    expect(answers.map(({ status }) => status)).toEqual(leases.map(() => 201));
    const workers = [...answers.map((answer) => windowOf(answer).workerId), await ownWorker()];
    expect(new Set(workers).size).toBe(21);
    const full = await post(newLease());
    expect([full.status, problemCode(full)]).toEqual([409, 'LEAF_WORKERS_USED_UP']);
    expect(full.body).toContain('LEAF_WORKER_WINDOWS');
    await Promise.all(leases.map((lease) => ask('DELETE', `/${lease}`, { lastTimestamp: 0 })));
  });
});

describe('Worker windows need', () => {
  afterEach(() => server.stop());

  it('a worker token', async () => {
    await start(ENV);
    for (const token of [null, 'wrong-token-0123456789', ADMIN_TOKEN]) {
      const answer = await ask('POST', '', { lease: newLease(), holder: 'a' }, token);
      expect([answer.status, problemCode(answer)]).toEqual([401, 'LEAF_UNAUTHORIZED']);
    }
    // A worker token changes no tags.
    for (const method of ['PUT', 'DELETE']) {
      const answer = await ask(method, `/${newLease()}`, {}, ADMIN_TOKEN);
      expect([answer.status, problemCode(answer)]).toEqual([401, 'LEAF_UNAUTHORIZED']);
    }
    expect((await admin(server.port, 'POST', '/api/tags', { tag: 'a' }, TOKEN)).status).toBe(401);
  });
});

it('A worker window outlasts the server that gave it', async () => {
  await start(ENV);
  try {
    const lease = newLease();
    const { workerId, from, until } = windowOf(await post(lease, { windowMs: HOUR }));
    await server.stop();
    await start(ENV);
    const answer = await ask('PUT', `/${lease}`);
    expect(answer.status).toBe(200);
    expect(windowOf(answer)).toMatchObject({ workerId, from, until });
    expect(await ownWorker()).not.toBe(workerId);
  } finally {
    await server.stop();
  }
});

it('A pool without a free worker ID is a conflict for the caller', async () => {
  const own = await makeDataDirectory();
  try {
    // Two worker IDs: one for the server, one for a window.
    await start({
      ...ENV,
      LEAF_DATA_DIR: own,
      LEAF_DATABASE_URL: `sqlite:${own}/a.sqlite`,
      LEAF_SNOWFLAKE_BITS: '41,1,12',
    });
    const { until } = windowOf(await post(newLease(), { windowMs: HOUR }));
    expect(until).toBeGreaterThan(0);
    const answer = await post(newLease());
    expect([answer.status, problemCode(answer)]).toEqual([409, 'LEAF_WORKERS_USED_UP']);
  } finally {
    await server.stop();
    await removeDataDirectory(own);
  }
});
