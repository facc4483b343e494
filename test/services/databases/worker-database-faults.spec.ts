import { LeafError, type WorkerRecord } from '@leaf-ids/core';
import { FIXED_WORKERS, type LeafDataSource, parseDatabaseUrl, SqlWorkerStore } from '@leaf-ids/persistence';
import { connect, lazily } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';

const INSTANCE = { ip: '10.0.0.7', port: 8080 };
const RECORD: WorkerRecord = { instance: INSTANCE, leaseId: 'f00', write: 1, ceiling: 5000, free: false };
const PASSWORD = 'p4ss-w0rd';
const TABLES = ['leaf_workerid_alloc', 'leaf_registry'];

interface Server extends PrivateServer {
  createDatabase(): Promise<string>;
}

describe.each<[string, () => Promise<Server>, string, string]>([
  ['MariaDB', startMariadb, `CREATE USER limited@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'`, `limited@'127.0.0.1'`],
  ['PostgreSQL', startPostgres, `CREATE USER limited PASSWORD '${PASSWORD}'`, 'limited'],
])('a worker registry in %s tells what passes from what does not:', (_name, start, createUser, user) => {
  let server: Server;
  let url: string;
  let admin: LeafDataSource;
  let store: SqlWorkerStore;
  beforeAll(async () => {
    server = await start();
    const own = await server.createDatabase();
    admin = await connect(parseDatabaseUrl(own));
    await admin.query(createUser);
    for (const table of TABLES) await admin.query(`GRANT SELECT, INSERT, UPDATE ON ${table} TO ${user}`);
    url = own.replace(/\/\/\w+@/, `//limited:${PASSWORD}@`);
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    store = new SqlWorkerStore(lazily(parseDatabaseUrl(url)), FIXED_WORKERS);
  });
  afterEach(() => store.close());

  async function fails(act: Promise<unknown>): Promise<LeafError> {
    const error: unknown = await act.catch((thrown: unknown) => thrown);
    if (error instanceof LeafError) return error;
    throw new Error('it did not fail as it should', { cause: error });
  }

  it('a right that is missing', async () => {
    const rows = await store.list();
    expect(rows).toStrictEqual([]);
    await admin.query(
      "INSERT INTO leaf_workerid_alloc (id, ip, port, ip_port) VALUES (7, '10.0.0.7', '8080', '10.0.0.7:8080')",
    );
    const [made] = await store.list();
    await admin.query(`REVOKE UPDATE ON leaf_workerid_alloc FROM ${user}`);
    const error = await fails(store.replace(made!, RECORD));
    expect(error).toMatchObject({ code: 'LEAF_CONFIG_INVALID', message: expect.stringContaining('grant') as string });
    await admin.query(`GRANT UPDATE ON leaf_workerid_alloc TO ${user}`);
    expect(await store.replace(made!, RECORD)).toBeDefined();
  });

  it.each([
    ['a user that is unknown', (good: string) => good.replace('limited', 'stranger')],
    ['a database that is unknown', (good: string) => good.replace(/\/leaf_\w+$/, '/none')],
  ])('%s', async (_, spoil) => {
    const other = new SqlWorkerStore(lazily(parseDatabaseUrl(spoil(url))), FIXED_WORKERS);
    const error = await fails(other.readRegistry());
    expect(error.code).toBe('LEAF_CONFIG_INVALID');
    expect(error.message).toContain(other.description);
    expect(error.message).not.toContain(PASSWORD);
    await other.close();
  });

  it('a server that is down', async () => {
    await store.readRegistry();
    await admin.destroy();
    await server.kill();
    for (const act of [() => store.readRegistry(), () => store.list(INSTANCE)]) {
      const error = await fails(act());
      expect(error.code).toBe('LEAF_REGISTRY_UNREACHABLE');
      expect(error.message).toContain(store.description);
    }
    await server.restart();
    expect(await store.list()).toHaveLength(1);
  });
});
