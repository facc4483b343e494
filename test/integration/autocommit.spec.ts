import { DataSource } from 'typeorm';
import { FakeClock, systemRandom } from '@leaf/core';
import { parseDatabaseUrl } from '@leaf/persistence';
import { SharedDatabase } from '../../libs/persistence/src/shared-database';
import { connect } from '../contract/sql-stores';
import { type MariadbServer, startMariadb } from '../support/mariadb';

describe('a server whose sessions begin with autocommit off', () => {
  let mariadb: MariadbServer;
  beforeAll(async () => (mariadb = await startMariadb(['--autocommit=0'])));
  afterAll(() => mariadb.stop());

  const refusal = { code: 'LEAF_DATABASE_UNUSABLE', message: expect.stringContaining('autocommit=1') as string };

  it.each([true, false])('is refused, with migrations: %s', async (migrate) => {
    const target = parseDatabaseUrl(await mariadb.createDatabase());
    await expect(connect(target, migrate)).rejects.toMatchObject(refusal);
  });

  it.each([true, false])('is refused as the data source of an application, with migrations: %s', async (migrate) => {
    const url = await mariadb.createDatabase();
    const dataSource = await new DataSource({ type: 'mysql', url }).initialize();
    try {
      const shared = new SharedDatabase(dataSource, migrate, new FakeClock(), systemRandom);
      await expect(shared.open()).rejects.toMatchObject(refusal);
    } finally {
      await dataSource.destroy();
    }
  });
});
