import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { call, json, text } from '../../support/http/http';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { ready, SHORT_LEASE } from '../../support/servers/readiness';
import { settle } from '../../support/servers/server-registries';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { until } from '../../support/until';

const BATCH = '/api/snowflake/batch/x?size=5000';

describe('two servers in one process, on one registry', () => {
  let mariadb: MariadbServer;
  let url: string;
  const servers: TestServer[] = [];

  beforeAll(async () => (mariadb = await startMariadb()));
  afterAll(() => mariadb.stop());
  beforeEach(async () => {
    url = await mariadb.createDatabase();
    await settle({ strategy: 'mysql', url, migrate: true });
    for (const port of [8080, 8081]) {
      servers.push(
        await startTestServer({
          LEAF_DATABASE_URL: url,
          LEAF_SNOWFLAKE_REGISTRY: 'mysql',
          ...SHORT_LEASE,
          LEAF_ADVERTISE_HOST: '10.0.0.7',
          LEAF_ADVERTISE_PORT: String(port),
        }),
      );
    }
    await Promise.all(servers.map(({ port }) => ready(port)));
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });

  const workerOf = async (port: number): Promise<number> => {
    const id = await text(port, '/api/snowflake/get/x');
    return (await json<{ workerId: number }>(port, `/api/snowflake/decode/${id}`)).workerId;
  };

  it('have a worker each, and no ID twice', async () => {
    const workers = await Promise.all(servers.map(({ port }) => workerOf(port)));
    expect(new Set(workers).size).toBe(2);
    const answers = await Promise.all([...servers, ...servers].map(({ port }) => json<{ ids: string[] }>(port, BATCH)));
    const ids = answers.flatMap((answer) => answer.ids);
    expect(new Set(ids).size).toBe(20_000);
    const tags = await Promise.all(servers.map(({ port }) => text(port, '/api/segment/get/leaf-segment-test')));
    expect(new Set(tags).size).toBe(2);
  });

  it('lose a lease each for itself', async () => {
    const [first, second] = servers as [TestServer, TestServer];
    const dataSource = await connect(parseDatabaseUrl(url), false);
    await dataSource.query("UPDATE leaf_workerid_alloc SET lease_id = 'somebody' WHERE port = '8080'");
    await dataSource.destroy();
    const refused = await until('the loss', async () => {
      const answer = await call(first.port, '/api/snowflake/get/x');
      return answer.status === 503 && answer;
    });
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'LEAF_LEASE_LOST' });
    expect((await call(first.port, '/health/ready')).status).toBe(503);
    expect((await call(first.port, '/health/ready/snowflake')).status).toBe(503);
    expect((await call(first.port, '/health/ready/segment')).status).toBe(200);
    expect(await text(first.port, '/api/segment/get/leaf-segment-test')).toMatch(/^\d+$/);
    expect(await text(second.port, '/api/snowflake/get/x')).toMatch(/^\d+$/);
    expect((await call(second.port, '/health/ready')).status).toBe(200);
  });
});

it('IDs of a 53-bit layout are exact as JavaScript and JSON numbers', async () => {
  const server = await startTestServer({ LEAF_SNOWFLAKE_BITS: '41,5,7', LEAF_LOCAL_WORKERS: '{"*":31}' });
  try {
    const { ids } = await json<{ ids: string[] }>(server.port, '/api/snowflake/batch/x?size=500');
    for (const id of ids) expect(String(JSON.parse(id) as number)).toBe(id);
    expect(await json(server.port, `/api/snowflake/decode/${ids.at(-1)!}`)).toMatchObject({ workerId: 31 });
  } finally {
    await server.stop();
  }
});
