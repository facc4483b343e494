import { LeafClient } from '@leaf-ids/client';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { call, json, text } from '../../support/http/http';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

describe('a strict tag of two servers', () => {
  let postgres: PostgresServer;
  let url: string;
  const servers: TestServer[] = [];
  let ports: [number, number];

  beforeAll(async () => (postgres = await startPostgres()));
  afterAll(() => postgres.stop());
  beforeEach(async () => {
    url = await postgres.createDatabase();
    const env = { LEAF_DATABASE_URL: url, LEAF_SNOWFLAKE_ENABLED: 'false' };
    servers.push(await startTestServer(env));
    await execute("INSERT INTO leaf_alloc (biz_tag, max_id, step, ordering) VALUES ('order', 1, 1000, 'strict')");
    servers.push(await startTestServer(env));
    ports = [servers[0]!.port, servers[1]!.port];
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });

  async function execute(sql: string): Promise<void> {
    const dataSource = await connect(parseDatabaseUrl(url), false);
    await dataSource.query(sql);
    await dataSource.destroy();
  }

  it('ascends over both, by every route, without a gap', async () => {
    const [one, two] = ports;
    expect(await text(one, '/api/segment/get/order')).toBe('1');
    expect(await text(two, '/api/segment/get/order')).toBe('2');
    expect(await json(one, '/api/segment/batch/order?size=3')).toEqual({ tag: 'order', ids: ['3', '4', '5'] });
    expect(await json(two, '/api/segment/range/order?size=1000')).toEqual({ tag: 'order', order: 'strict', ranges: [{ from: '6', to: '1005' }] }); // prettier-ignore
    expect(await text(one, '/api/segment/get/order')).toBe('1006');
    expect(await json(one, '/api/segment/range/leaf-segment-test?size=1')).not.toHaveProperty('order');
  });

  it('ascends over clients of both', async () => {
    const clients = ports.map((port) => new LeafClient({ servers: [`http://127.0.0.1:${port}`] }));
    await Promise.all(clients.map((client) => client.nextId('order')));
    let last = 0n;
    for (let n = 0; n < 20; n++) {
      const id = await clients[n % 2]!.nextId('order');
      expect(id).toBeGreaterThan(last);
      last = id;
      expect(clients[n % 2]!.tryNext('order')).toBeUndefined();
    }
    const ids = await Promise.all(Array.from({ length: 500 }, (_, n) => clients[n % 2]!.nextId('order')));
    expect(new Set(ids).size).toBe(500);
    expect(ids.every((id) => id > last)).toBe(true);
    await Promise.all(clients.map((client) => client.close()));
  });

  it('refuses as other tags do', async () => {
    const [one, two] = ports;
    expect(await text(one, '/api/segment/get/order')).toBe('1');
    expect(await call(one, '/api/segment/get/order?size=1')).toMatchObject({ status: 200, body: '2' });
    await execute("UPDATE leaf_alloc SET max_id = 9223372036854775807 WHERE biz_tag = 'order'");
    const refused = await call(two, '/api/segment/get/order');
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    });
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'LEAF_TAG_EXHAUSTED', status: 503 });
    await execute("DELETE FROM leaf_alloc WHERE biz_tag = 'order'");
    const gone = await call(one, '/api/segment/get/order');
    expect(JSON.parse(gone.body)).toMatchObject({ code: 'LEAF_TAG_NOT_FOUND', status: 404 });
    expect(gone.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });

  it('is shown as what it is', async () => {
    const [one] = ports;
    await text(one, '/api/segment/get/order');
    const { tags } = await json<{ tags: { tag: string }[] }>(one, '/api/monitor/segments');
    const view = tags.find(({ tag }) => tag === 'order');
    expect(view).toMatchObject({ strict: true, initialized: false, buffered: 0, issued: 1, lastsMs: null, loads: 1 });
    expect(tags.find(({ tag }) => tag === 'leaf-segment-test')).toMatchObject({ strict: false });
    expect(await text(one, '/metrics')).not.toMatch(/leaf_segment_exhaustion_seconds\{.*order/);
  });
});
