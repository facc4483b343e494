import { randomBytes } from 'node:crypto';
import { admin } from '../../support/http/admin';
import { json, text } from '../../support/http/http';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startTestServer, type TestServer } from '../../support/servers/server';

const TOKEN = 'worker-token-0123456789';

interface Place {
  readonly workerId: number;
  readonly datacenterId?: number;
  readonly machineId?: number;
}

describe('A server of a data center', () => {
  let server: TestServer;
  let directory: string;
  beforeAll(async () => void (directory = await makeDataDirectory()));
  afterAll(() => removeDataDirectory(directory));
  afterEach(() => server.stop());

  /** The servers use one registry, one after the other. */
  async function start(env: NodeJS.ProcessEnv): Promise<Place> {
    server = await startTestServer({
      ...{ LEAF_DATA_DIR: directory, LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite` },
      ...{ LEAF_SNOWFLAKE_REGISTRY: 'database', LEAF_WORKER_TOKENS: TOKEN, LEAF_SNOWFLAKE_BITS: '41,5+5,12', ...env },
    });
    return decoded(await text(server.port, '/api/snowflake/get/order'));
  }

  const decoded = (id: string): Promise<Place> => json(server.port, `/api/snowflake/decode/${id}`);
  const lease = randomBytes(16).toString('hex');
  const windows = async (method: string, path = '', body?: unknown): Promise<{ status: number; workerId?: number }> => {
    const answer = await admin(server.port, method, `/api/workers${path}`, body, TOKEN);
    return { status: answer.status, ...(answer.body === '' ? {} : (JSON.parse(answer.body) as object)) };
  };
  const acquire = (made: string): ReturnType<typeof windows> =>
    windows('POST', '', { lease: made, holder: 'billing', windowMs: 3_600_000 });

  it('has a worker ID of it, gives windows of it, and names it', async () => {
    const own = await start({ LEAF_SNOWFLAKE_DATACENTER: '3' });
    expect([own.datacenterId, Math.floor(own.workerId / 32), own.workerId % 32]).toEqual([3, 3, own.machineId]);
    expect(await decoded('1169786042799259000')).toEqual({
      ...{ id: '1169786042799259000', timestamp: 1567733700834, time: '2019-09-06T01:35:00.834Z' },
      ...{ workerId: 39, datacenterId: 1, machineId: 7, sequence: 3448 },
    });
    const { worker } = await json<{ worker: object }>(server.port, '/api/monitor/snowflake');
    expect(worker).toMatchObject({ minWorkerId: 96, maxWorkerId: 127, layout: { workerBits: 10, datacenterBits: 5 } });
    const { workerId = 0 } = await acquire(lease);
    expect(Math.floor(workerId / 32)).toBe(3);
  });

  it('takes a worker ID of another range after a restart, and keeps the windows of the old one', async () => {
    const own = await start({ LEAF_SNOWFLAKE_WORKERS: '512-515' });
    expect(own.datacenterId).toBe(16);
    const kept = await windows('PUT', `/${lease}`, { windowMs: 3_600_000 });
    expect([kept.status, Math.floor((kept.workerId ?? 0) / 32)]).toEqual([200, 3]);
    const given = [await acquire('a'.repeat(32)), await acquire('b'.repeat(32)), await acquire('c'.repeat(32))];
    const taken = [own, ...given].map(({ workerId }) => workerId);
    expect([...taken].sort()).toEqual([512, 513, 514, 515]);
    expect((await acquire('d'.repeat(32))).status).toBe(409);
    expect((await windows('DELETE', `/${lease}`, {})).status).toBe(204);
    expect((await windows('PUT', `/${lease}`, {})).status).toBe(404);
  });

  it('shares a registry with servers whose bits are one number', async () => {
    const own = await start({ LEAF_SNOWFLAKE_BITS: '41,10,12', LEAF_SNOWFLAKE_WORKERS: '600' });
    expect(own).toMatchObject({ workerId: 600 });
    expect(own).not.toHaveProperty('datacenterId');
  });
});
