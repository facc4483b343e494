import { Leaf } from '@leaf-ids/id';
import { leaf, leafJson } from '../../support/leaf-command';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';

describe('leaf snowflake with a database server', () => {
  let mariadb: MariadbServer;

  beforeAll(async () => void (mariadb = await startMariadb()));
  afterAll(() => mariadb.stop());

  it('takes a worker ID of the pool that the servers use, with their layout, and releases it', async () => {
    const database = await mariadb.createDatabase();
    const layout = { timeBits: 41, workerBits: 9, sequenceBits: 13, epoch: 1_600_000_000_000 };
    const server = await Leaf.start({ database, snowflake: { layout } });
    try {
      const env = { LEAF_DATABASE_URL: database };
      const own = server.ids.decode(server.ids.snowflake());
      const { ids } = await leafJson<{ ids: string[] }>(['snowflake', '-n', '1000'], env);
      expect(new Set(ids).size).toBe(1000);
      const decoded = ids.map((id) => server.ids.decode(BigInt(id)));
      expect(decoded.map(({ workerId }) => workerId)).not.toContain(own.workerId);
      expect(await leafJson(['decode', ids[0]!], env)).toMatchObject(decoded[0]!);
      const limited = await leafJson<{ ids: string[] }>(['snowflake', '--workers', '96-96', '-n', '10'], env);
      expect(new Set(limited.ids.map((id) => server.ids.decode(BigInt(id)).workerId))).toEqual(new Set([96]));
      const name = new URL(database).pathname.slice(1);
      const held = await mariadb.query(`SELECT id FROM ${name}.leaf_worker_pool WHERE lease_id NOT LIKE '%.free'`);
      expect(held.map(({ id }) => Number(id))).toEqual([own.workerId]);
    } finally {
      await server.stop();
    }
  });

  it('refuses a database whose servers use another registry', async () => {
    const database = await mariadb.createDatabase();
    const args = ['snowflake', '--database', database];
    const server = await Leaf.start({ database });
    await server.stop();
    const refused = { code: 1, out: '', err: expect.stringContaining('do not take their worker IDs from a pool') };
    expect(await leaf(args)).toEqual(refused);
    const fixed = await Leaf.start({ database, snowflake: { registry: 'mysql' } });
    await fixed.stop();
    expect(await leaf(args)).toEqual(refused);
  });

  it('refuses a pool that no server uses, because the servers may have moved to another place', async () => {
    const database = await mariadb.createDatabase();
    const server = await Leaf.start({ database, snowflake: {} });
    await server.stop();
    expect(await leaf(['snowflake', '--database', database])).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining('No server uses the pool of worker IDs'),
    });
  });
});
