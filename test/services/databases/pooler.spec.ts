import { createSegmentStore, createTagStore, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect, connectAsServer, FAILOVER } from '../../support/contract/sql-stores';
import { type PgbouncerServer, startPgbouncer } from '../../support/servers/pgbouncer';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

const TAG = 'leaf-segment-test';

describe('PgBouncer in transaction mode', () => {
  let server: PostgresServer;
  let pooler: PgbouncerServer;

  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPgbouncer(server.port);
  });
  afterAll(async () => {
    await pooler.stop();
    await server.stop();
  });

  it('serves starts, allocations and changes of tags, and leaves nothing behind', async () => {
    const target = parseDatabaseUrl(await pooler.createDatabase());
    const servers = await Promise.all(Array.from({ length: 4 }, () => connect(target)));
    try {
      const stores = servers.map((each) => createSegmentStore(each, FAILOVER));
      const changes = servers.map((each, i) => createTagStore(each).create({ tag: `t${i}`, step: 10 }));
      const taken = await Promise.all(
        Array.from({ length: 400 }, (_, i) => stores[i % stores.length]!.allocate(TAG, 10)),
      );
      expect(new Set(taken.map(({ from }) => from)).size).toBe(400);
      expect(await Promise.all(changes)).toHaveLength(4);
      const locks = await server.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory'");
      expect(locks.rows).toStrictEqual([]);
    } finally {
      for (const each of servers) await each.destroy();
    }
  });

  it('carries no setting of Leaf to other applications', async () => {
    const target = parseDatabaseUrl(await pooler.createDatabase());
    const dataSource = await connect(target);
    try {
      await Promise.all(Array.from({ length: 50 }, () => createSegmentStore(dataSource, FAILOVER).allocate(TAG, 10)));
      const [row] = await dataSource.query<{ limit: string; level: string }[]>(
        `SELECT current_setting('statement_timeout') AS limit, current_setting('default_transaction_isolation') AS level`,
      );
      expect(row).toEqual({ limit: '0', level: 'read committed' });
    } finally {
      await dataSource.destroy();
    }
  });

  it('is refused before a role whose commits are not awaited', async () => {
    const url = await pooler.createDatabase();
    await (await connect(parseDatabaseUrl(url))).destroy();
    const database = new URL(url).pathname.slice(1);
    await server.query(`ALTER DATABASE ${database} SET synchronous_commit = off`);
    await pooler.reconnect();
    await expect(connectAsServer(parseDatabaseUrl(url))).rejects.toMatchObject({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining('ALTER ROLE') as string,
    });
  });
});
