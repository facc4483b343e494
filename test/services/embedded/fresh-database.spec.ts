import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { IdModule, IdService } from '@leaf-ids/id';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

let mariadb: MariadbServer;
let postgres: PostgresServer;

beforeAll(async () => ([mariadb, postgres] = await Promise.all([startMariadb(), startPostgres()])));
afterAll(() => Promise.all([mariadb.stop(), postgres.stop()]));

it.each([
  ['MariaDB', () => mariadb.createDatabase()],
  ['PostgreSQL', () => postgres.createDatabase()],
])('an application starts without a wait on a fresh %s database, with its workers in memory', async (_name, create) => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const store = new InMemoryWorkerStore(new InMemoryWorkers());
  const snowflake = { registry: { strategy: 'custom', store, policy: 'pool', remembers: true } } as const;
  const imports = [
    IdModule.forRoot({ database: await create(), tags: ['order'], segment: { waitMs: 30_000 }, snowflake }),
  ];
  const startedAt = performance.now();
  const app = await Test.createTestingModule({ imports }).compile();
  await app.init();
  process.stdout.write(`Started in ${Math.round(performance.now() - startedAt)} ms\n`);
  expect(await app.get(IdService).nextId('order')).toBe(1n);
  expect(app.get(IdService).snowflake()).toBeGreaterThan(0n);
  await app.close();
  expect(warn.mock.calls.map(String).filter((text) => text.includes('is new or may have lost writes'))).toStrictEqual(
    [],
  );
});
