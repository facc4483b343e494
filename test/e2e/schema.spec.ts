import { join } from 'node:path';
import { migrations } from '@leaf-ids/migrations';
import { createSegmentStore, createTagStore, loadSqlite, openDatabase, parseDatabaseUrl } from '@leaf-ids/persistence';
import { systemRandom } from '@leaf-ids/core/internal';
import { clock, FAILOVER, PATIENT } from '../support/contract/sql-stores';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { startMariadb } from '../support/servers/mariadb';
import { connectPostgres, startPostgres } from '../support/servers/postgres';

const servers = new BuiltServers();

beforeAll(() => ensureBuilt());
afterEach(() => servers.end());

interface Database {
  readonly url: string;
  /** Runs several statements, as the client of the database does with a file. */
  readonly execute: (sql: string) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

const DATABASES: Readonly<Record<string, () => Promise<Database>>> = {
  mysql: async () => {
    const server = await startMariadb();
    const url = await server.createDatabase();
    const session = await server.open(new URL(url).pathname.slice(1));
    const stop = async (): Promise<void> => {
      await session.close();
      await server.stop();
    };
    return { url, execute: (sql) => session.query(sql), stop };
  },
  postgres: async () => {
    const server = await startPostgres();
    const url = await server.createDatabase();
    const client = await connectPostgres(server.port, new URL(url).pathname.slice(1));
    const stop = async (): Promise<void> => {
      await client.end();
      await server.stop();
    };
    return { url, execute: (sql) => client.query(sql), stop };
  },
  sqlite: async () => {
    const file = join(await servers.makeDirectory(), 'leaf.sqlite');
    const database = new (await loadSqlite())(file);
    const execute = (sql: string): Promise<unknown> => Promise.resolve(database.exec(sql));
    return { url: `sqlite:${file}`, execute, stop: () => Promise.resolve(void database.close()) };
  },
};

async function print(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  // The command ignores settings with which no server would start.
  const server = servers.spawn(await servers.makeDirectory(), { LEAF_DATABASE_URL: 'none' }, ['schema', ...args]);
  const { code } = await server.exit();
  return { code, stdout: server.stdout, stderr: server.stderr };
}

describe('leaf-server schema', () => {
  it.each(Object.entries(DATABASES))('%s: leaves nothing to migrate', async (dialect, start) => {
    const { code, stdout } = await print(dialect);
    expect(code).toBe(0);
    const { url, execute, stop } = await start();
    try {
      await execute(stdout);
      const created: string[] = [];
      const target = parseDatabaseUrl(url);
      const onCloseProblem = (step: string, problem: string): void => void created.push(step, problem);
      const onCreated = (): void => void created.push('created');
      const options = { target, migrate: true, limits: PATIENT, onCreated, onCloseProblem };
      const dataSource = await openDatabase(options, clock, systemRandom);
      try {
        const done = await dataSource.query<{ name: string }[]>('SELECT name FROM leaf_migrations ORDER BY id');
        expect(done.map(({ name }) => name)).toEqual(migrations.map(({ name }) => name));
        await createTagStore(dataSource).create({ tag: 'order', step: 10 });
        expect(await createSegmentStore(dataSource, FAILOVER).allocate('order', undefined)).toMatchObject({ from: 1n });
      } finally {
        await dataSource.destroy();
      }
      expect(created).toStrictEqual([]);
    } finally {
      await stop();
    }
  });

  it.each([[[]], [['oracle']]])('refuses the arguments %j', async (args) => {
    const { code, stdout, stderr } = await print(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('mysql|postgres|sqlite');
  });
});
