import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { IdModule, IdService, Leaf } from '@leaf-ids/id';
import { DataSource } from 'typeorm';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { settle } from '../../support/servers/server-registries';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

let mariadb: MariadbServer;
let postgres: PostgresServer;

beforeAll(async () => ([mariadb, postgres] = await Promise.all([startMariadb(), startPostgres()])));
afterAll(() => Promise.all([mariadb.stop(), postgres.stop()]));

const snowflake = {};
const segment = { waitMs: 30_000 };
const tags = ['order', 'invoice'];

async function takeBothModes(ids: IdService): Promise<void> {
  expect(await ids.nextIds('order', 3)).toEqual([1n, 2n, 3n]);
  const taken = await Promise.all(tags.map((tag) => ids.nextIds(tag, 10_000)));
  expect(taken.map(({ length }) => length)).toEqual([10_000, 10_000]);
  expect(ids.snowflake()).toBeGreaterThan(0n);
}

describe.each([
  ['MariaDB', 'mysql', 'connectionLimit', () => mariadb.createDatabase()],
  ['PostgreSQL', 'postgres', 'max', () => postgres.createDatabase()],
] as const)('a pool of one connection to %s', (_name, type, limit, createDatabase) => {
  it.each([{ poolSize: 1 }, { extra: { [limit]: 1 } }])(
    'of the application, %j, starts and serves inside a transaction that uses it',
    async (pool) => {
      const url = await createDatabase();
      await settle({ strategy: 'database', url, migrate: true });
      const own = { type, url, ...pool } as TypeOrmModuleOptions;
      const ids = IdModule.forRoot({ database: { dataSource: DataSource }, tags, segment, snowflake });
      @Module({ imports: [TypeOrmModule.forRoot(own), ids] })
      class HostModule {}
      const app = await NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false });
      try {
        await app.get(DataSource).transaction(() => takeBothModes(app.get(IdService)));
      } finally {
        await app.close();
      }
    },
  );

  it('of Leaf itself creates its tables and serves both modes', async () => {
    const database = `${await createDatabase()}?connections=1`;
    const leaf = await Leaf.start({ database, tags, segment, snowflake });
    try {
      await takeBothModes(leaf.ids);
    } finally {
      await leaf.stop();
    }
  });
});
