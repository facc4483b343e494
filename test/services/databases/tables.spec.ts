import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

describe('tables of MariaDB', () => {
  let server: MariadbServer;
  let url: string;
  beforeAll(async () => (server = await startMariadb()));
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.createDatabase();
    await (await connect(parseDatabaseUrl(url))).destroy();
  });

  it.each(['MEMORY', 'MyISAM', 'Aria'])('with ENGINE=%s are refused at the start', async (engine) => {
    const { pathname } = new URL(url);
    await server.query(`ALTER TABLE ${pathname.slice(1)}.leaf_deleted_tag ENGINE=${engine}`);
    for (const migrate of [true, false]) {
      await expect(connect(parseDatabaseUrl(url), migrate)).rejects.toMatchObject({
        code: 'LEAF_DATABASE_UNUSABLE',
        message: expect.stringContaining('ALTER TABLE leaf_deleted_tag ENGINE=InnoDB') as unknown,
      });
    }
    await server.query(`ALTER TABLE ${pathname.slice(1)}.leaf_deleted_tag ENGINE=InnoDB`);
    await (await connect(parseDatabaseUrl(url))).destroy();
  });

  it('are refused at the start to a user who may not use them, with the statement to grant', async () => {
    const database = new URL(url).pathname.slice(1);
    await server.query(`CREATE USER few@'127.0.0.1' IDENTIFIED BY 'x'`);
    await server.query(`GRANT SELECT, UPDATE ON ${database}.* TO few@'127.0.0.1'`);
    const target = parseDatabaseUrl(`mysql://few:x@127.0.0.1:${server.port}/${database}`);
    const refused = expect.stringContaining(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON leaf_alloc TO 'few'@'127.0.0.1'",
    ) as unknown;
    await expect(connect(target, false)).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE', message: refused });
    await server.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.* TO few@'127.0.0.1'`);
    await (await connect(target, false)).destroy();
  });
});

describe('tables of PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => (server = await startPostgres()));
  afterAll(() => server.stop());

  it('that are unlogged are refused at the start', async () => {
    const target = parseDatabaseUrl(await server.createDatabase());
    const dataSource = await connect(target);
    await dataSource.query('ALTER TABLE leaf_alloc SET UNLOGGED');
    await dataSource.destroy();
    await expect(connect(target)).rejects.toMatchObject({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining('ALTER TABLE leaf_alloc SET LOGGED') as unknown,
    });
  });

  it('are refused at the start to a role that may not use them, with the statement to grant', async () => {
    const target = parseDatabaseUrl(await server.createDatabase());
    const dataSource = await connect(target);
    await dataSource.query('CREATE ROLE few LOGIN');
    await dataSource.query('GRANT SELECT, INSERT, UPDATE, DELETE ON leaf_alloc, leaf_registry TO few');
    await dataSource.query('GRANT SELECT ON leaf_deleted_tag TO few');
    const few = { ...target, username: 'few' };
    const refused = expect.stringContaining('GRANT SELECT, INSERT, UPDATE ON leaf_deleted_tag TO few') as unknown;
    await expect(connect(few, false)).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE', message: refused });
    await dataSource.query('GRANT SELECT, INSERT, UPDATE ON leaf_deleted_tag, leaf_segment_server TO few');
    await (await connect(few, false)).destroy();
    await dataSource.destroy();
  });
});
