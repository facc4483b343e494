import 'reflect-metadata';
import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, DefaultNamingStrategy, type Repository } from 'typeorm';
import { IdModule, IdService, LEAF_DATA_SOURCE, LeafAlloc } from '@leaf-ids/id';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

type Imports = NonNullable<DynamicModule['imports']>;

const running: INestApplicationContext[] = [];

async function start(...imports: Imports): Promise<INestApplicationContext> {
  @Module({ imports })
  class HostModule {}
  const app = await NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false });
  running.push(app);
  return app;
}

let mariadb: MariadbServer;
let postgres: PostgresServer;

beforeAll(async () => ([mariadb, postgres] = await Promise.all([startMariadb(), startPostgres()])));
afterAll(() => Promise.all([mariadb.stop(), postgres.stop()]));
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
});

/** Of the application. */
const POOL = 2;
/** A machine that stands still for a moment is no outage. */
const segment = { waitMs: 30_000 };
const host = (url: string, name = 'default'): DynamicModule =>
  TypeOrmModule.forRoot({ type: url.startsWith('mysql') ? 'mysql' : 'postgres', url, name, poolSize: POOL } as never);

describe.each([
  ['MariaDB', () => mariadb.createDatabase()],
  ['PostgreSQL', () => postgres.createDatabase()],
])('the data source of the application on %s', (_name, createDatabase) => {
  let url: string;
  let rows: DataSource;
  beforeEach(async () => {
    url = await createDatabase();
    rows = await new DataSource({ type: url.startsWith('mysql') ? 'mysql' : 'postgres', url } as never).initialize();
  });
  afterEach(() => rows.destroy());

  it('serves both modes, gets its unused IDs back and is left to the application', async () => {
    const tags = ['order', 'invoice', 'parcel', 'refund'];
    const app = await start(
      host(url),
      IdModule.forRoot({
        database: { dataSource: DataSource },
        tags,
        segment,
        snowflake: { registry: 'mysql' },
      }),
    );
    const ids = app.get(IdService);
    expect(await ids.nextIds('order', 3)).toEqual([1n, 2n, 3n]);
    expect(ids.decode(ids.snowflake())).toMatchObject({ workerId: 1 });
    await Promise.all(tags.map((tag) => ids.nextIds(tag, 5000)));
    const [connections] = await rows.query<{ n: string }[]>(connectionsOf(url));
    // The application's own, two for segments, two for the worker registry.
    expect(Number(connections?.n)).toBeLessThanOrEqual(POOL + 2 + 2);
    const dataSource = app.get<DataSource>(getDataSourceToken());
    await app.close();
    running.pop();
    expect(dataSource.isInitialized).toBe(false);
    expect(await rows.query("SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order'")).toEqual([{ max_id: '5004' }]);
    expect(await rows.query('SELECT lease_id FROM leaf_workerid_alloc')).toEqual([
      { lease_id: expect.stringMatching(/\.free$/) },
    ]);
  });

  it('keeps an ID that was taken inside of a transaction that is rolled back', async () => {
    const options = { database: { dataSource: DataSource }, tags: ['order'], segment };
    const app = await start(host(url), IdModule.forRoot(options));
    const ids = app.get(IdService);
    const taken: bigint[] = [];
    const failing = app.get(DataSource).transaction(async () => {
      taken.push(...(await ids.nextIds('order', 5000)));
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    const next = await ids.nextIds('order', 5000);
    expect(new Set([...taken, ...next]).size).toBe(10_000);
    const [row] = await rows.query<{ max_id: string }[]>("SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order'");
    expect(Number(row?.max_id)).toBeGreaterThanOrEqual(10_001);
  });

  it('keeps its own migrations apart from those of Leaf', async () => {
    await start(host(url), IdModule.forRoot({ database: { dataSource: DataSource } }));
    const app = running[0]!;
    expect(await app.get(DataSource).runMigrations()).toStrictEqual([]);
    expect(await rows.query('SELECT name FROM leaf_migrations')).not.toStrictEqual([]);
    expect(await rows.query('SELECT name FROM migrations')).toStrictEqual([]);
  });

  it('may have a schema and a naming strategy of its own, which the tables of Leaf do not follow', async () => {
    await rows.query('CREATE SCHEMA IF NOT EXISTS shop');
    const namingStrategy = Object.assign(new DefaultNamingStrategy(), {
      tableName: (_class: string, name: string) => `shop_${name}`,
      columnName: (property: string) => property.toUpperCase(),
    });
    const type = url.startsWith('mysql') ? 'mysql' : 'postgres';
    const own = TypeOrmModule.forRoot({ type, url, schema: 'shop', namingStrategy } as never);
    const app = await start(own, IdModule.forRoot({ database: { dataSource: DataSource }, tags: ['order'], segment }));
    expect(await app.get(IdService).nextId('order')).toBe(1n);
    const leaf = app.get<Repository<LeafAlloc>>(getRepositoryToken(LeafAlloc, LEAF_DATA_SOURCE), { strict: false });
    expect(await leaf.find()).toMatchObject([{ biz_tag: 'order', step: 2000 }]);
  });

  it('is taken by its name, or from a factory', async () => {
    const named = getDataSourceToken('orders');
    const options = { database: { dataSource: named }, tags: ['a'], segment };
    const byName = await start(host(url, 'orders'), IdModule.forRoot(options));
    expect(await byName.get(IdService).nextId('a')).toBe(1n);
    const byFactory = await start(
      host(url, 'orders'),
      IdModule.forRootAsync({
        inject: [named],
        useFactory: (dataSource: DataSource) => ({ database: { dataSource }, tags: ['b'], segment }),
      }),
    );
    expect(await byFactory.get(IdService).nextId('b')).toBe(1n);
  });
});

function connectionsOf(url: string): string {
  return url.startsWith('mysql')
    ? 'SELECT COUNT(*) AS n FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
    : `SELECT COUNT(*) AS n FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
}
