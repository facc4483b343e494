import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectSocket, createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSegmentStore, createTagStore, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect, FAILOVER } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPgbouncer } from '../../support/servers/pgbouncer';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

const TAG = 'leaf-segment-test';

interface DatabaseHost {
  readonly port: number;
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

interface Engine {
  readonly start: () => Promise<DatabaseHost>;
  /** How many connections the database of the asking one has. */
  readonly count: string;
  /** The time limit of a statement of this session, in milliseconds. */
  readonly limit: string;
  /** The parameter of a socket with this name in a directory, and the name. */
  readonly socket: (directory: string, port: number) => { readonly value: string; readonly path: string };
}

const ENGINES: Readonly<Record<string, Engine>> = {
  MariaDB: {
    start: () => startMariadb(),
    count: 'SELECT COUNT(*) AS count FROM information_schema.processlist WHERE db = DATABASE()',
    limit: 'SELECT @@max_statement_time * 1000 AS `limit`',
    socket: (directory) => ({ value: join(directory, 'sock'), path: join(directory, 'sock') }),
  },
  PostgreSQL: {
    start: () => startPostgres(),
    count:
      "SELECT COUNT(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'",

    limit: `SELECT setting AS "limit" FROM pg_settings WHERE name = 'statement_timeout'`,
    socket: (directory, port) => ({ value: directory, path: join(directory, `.s.PGSQL.${port}`) }),
  },
};

describe.each(Object.entries(ENGINES))('the URL of a database of %s', (_, engine) => {
  let host: DatabaseHost;
  beforeAll(async () => (host = await engine.start()));
  afterAll(() => host.stop());

  it.each([1, 3])('with connections=%d opens no more, and serves everything', async (connections) => {
    const dataSource = await connect(parseDatabaseUrl(`${await host.createDatabase()}?connections=${connections}`));
    try {
      await createTagStore(dataSource).create({ tag: 'order', step: 10 });
      const store = createSegmentStore(dataSource, FAILOVER);
      const taken = await Promise.all(Array.from({ length: 40 }, () => store.allocate('order', undefined)));
      expect(new Set(taken.map(({ from }) => from)).size).toBe(40);
      const [row] = await dataSource.query<{ count: string }[]>(engine.count);
      expect(Number(row?.count)).toBe(connections);
    } finally {
      await dataSource.destroy();
    }
  });

  it('with timeout has the server end what takes longer', async () => {
    const dataSource = await connect(parseDatabaseUrl(`${await host.createDatabase()}?timeout=7000`));
    try {
      const [row] = await dataSource.access.run<{ limit: string }[]>(engine.limit, []);
      expect(Number(row?.limit)).toBe(7000);
    } finally {
      await dataSource.destroy();
    }
  });

  it('with socket connects to that, and not to the host', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'leaf-socket-'));
    const { value, path } = engine.socket(directory, host.port);
    const relay = await listen(path, host.port);
    try {
      const url = (await host.createDatabase()).replace('127.0.0.1', 'nowhere.invalid');
      const dataSource = await connect(parseDatabaseUrl(`${url}?socket=${value}`));
      await createSegmentStore(dataSource, FAILOVER).allocate(TAG, 10);
      await dataSource.destroy();
    } finally {
      relay.close();
      await rm(directory, { recursive: true });
    }
  });
});

/** A Unix socket that leads to a port. */
async function listen(path: string, port: number): Promise<Server> {
  const server = createServer((socket) => {
    const onward = connectSocket(port, '127.0.0.1');
    socket.on('error', () => onward.destroy()).pipe(onward);
    onward.on('error', () => socket.destroy()).pipe(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  return server;
}

describe('the schema of a PostgreSQL URL', () => {
  /** What would end an identifier or an option, if it were taken for anything but a name. */
  const HOSTILE = `it's "a" \\ -c x=1,public`;
  let server: PostgresServer;
  beforeAll(async () => (server = await startPostgres()));
  afterAll(() => server.stop());

  async function createSchema(url: string, schema: string): Promise<void> {
    const session = await server.open(new URL(url).pathname.slice(1));
    await session.query(`CREATE SCHEMA "${schema.replaceAll('"', '""')}"`);
    await session.close();
  }

  it.each(['ids', 'Ids', HOSTILE])('%s holds the tables, apart from those of others', async (schema) => {
    const url = await server.createDatabase();
    await createSchema(url, schema);
    const inSchema = parseDatabaseUrl(`${url}?schema=${encodeURIComponent(schema)}`);
    const [first, other] = [await connect(inSchema), await connect(parseDatabaseUrl(url))];
    try {
      const stores = [first, other].map((each) => createSegmentStore(each, FAILOVER));
      const calls = stores.flatMap((store) => Array.from({ length: 20 }, () => store.allocate(TAG, 10)));
      const starts = (await Promise.all(calls)).map(({ from }) => from).sort((a, b) => Number(a - b));
      expect(starts).toEqual(Array.from({ length: 40 }, (_, index) => BigInt(Math.floor(index / 2) * 10 + 1)));
      const tables = await other.query("SELECT schemaname FROM pg_tables WHERE tablename = 'leaf_alloc' ORDER BY 1");
      expect(new Set(tables)).toEqual(new Set([{ schemaname: schema }, { schemaname: 'public' }]));
      // Nothing is left to migrate.
      await (await connect(inSchema)).destroy();
    } finally {
      await first.destroy();
      await other.destroy();
    }
  });

  it.each(['missing', '$user'])('%s that is not there is refused', async (schema) => {
    const target = parseDatabaseUrl(`${await server.createDatabase()}?schema=${encodeURIComponent(schema)}`);
    await expect(connect(target)).rejects.toMatchObject({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining('CREATE SCHEMA') as string,
    });
  });

  it.each([[[]], [['options']]])('is refused behind PgBouncer that ignores the parameters %j', async (ignored) => {
    const pooler = await startPgbouncer(server.port, ignored);
    try {
      const url = await pooler.createDatabase();
      await createSchema(url, 'ids');
      await expect(connect(parseDatabaseUrl(`${url}?schema=ids`))).rejects.toMatchObject({
        code: 'LEAF_DATABASE_UNUSABLE',
        message: expect.stringContaining('ALTER ROLE') as string,
      });
    } finally {
      await pooler.stop();
    }
  });
});
