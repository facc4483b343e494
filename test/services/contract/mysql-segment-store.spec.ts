import { createSegmentStore, parseDatabaseUrl } from '@leaf-ids/persistence';
import type { SqlDatabase } from '../../../libs/persistence/src/connections/sql-database';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { interleavedTagContract } from '../../support/contract/interleaved-tag.contract';
import { numbersContract } from '../../support/contract/numbers.contract';
import { numberPeriodsContract } from '../../support/contract/number-periods.contract';
import { olderVersionsContract } from '../../support/contract/older-versions.contract';
import { lostHistoryContract } from '../../support/contract/lost-history.contract';
import { day, periodContract } from '../../support/contract/period.contract';
import { type DatabaseFixture, restoreContract } from '../../support/contract/restore.contract';
import { segmentStoreContract } from '../../support/contract/segment-store.contract';
import {
  connect,
  databaseFixture,
  FAILOVER,
  type SingleDatabaseFixture,
  sqlFixture,
  tagFixture,
} from '../../support/contract/sql-stores';
import { tagStoreContract } from '../../support/contract/tag-store.contract';

let server: MariadbServer;
beforeAll(async () => (server = await startMariadb()));
afterAll(() => server.stop());

segmentStoreContract('MysqlSegmentStore', {
  open: async () => sqlFixture(await server.createDatabase(), () => Promise.resolve()),
});

const makeTags = async (): Promise<SingleDatabaseFixture> =>
  tagFixture(await server.createDatabase(), () => Promise.resolve());

tagStoreContract('MariaDB', makeTags);
interleavedTagContract('MariaDB', makeTags);
periodContract('MariaDB', makeTags);
olderVersionsContract('MariaDB', true, makeTags);
const makeDatabase = async (): Promise<DatabaseFixture> =>
  databaseFixture(await server.createDatabase(), () => Promise.resolve());

lostHistoryContract('MariaDB', makeDatabase);
restoreContract('MariaDB', makeDatabase);
numbersContract('MariaDB', makeDatabase);
numberPeriodsContract('MariaDB', makeDatabase);

it('a description or a name that an old table has no characters for is refused as bad input', async () => {
  const fixture = await tagFixture(await server.createDatabase(), () => Promise.resolve());
  const { tags } = fixture;
  await fixture.execute('ALTER TABLE leaf_alloc CONVERT TO CHARACTER SET latin1');
  const tag = { tag: 'order', step: 1 };
  await expect(tags.create({ ...tag, description: '漢' })).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID' });
  expect(await tags.create({ ...tag, description: 'é' })).toMatchObject({ description: 'é' });
  await expect(tags.list({ after: '中' })).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID' });
  await expect(tags.change('order', { description: '😀' })).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID' });
  await fixture.close();
});

it('a step is a number where the driver gives text', async () => {
  const fixture = await tagFixture(await server.createDatabase(), () => Promise.resolve());
  const { tags } = fixture;
  await tags.create({ tag: 'order', step: 7 });
  await fixture.execute('ALTER TABLE leaf_alloc MODIFY step bigint NOT NULL');
  expect(await tags.find('order')).toMatchObject({ step: 7 });
  expect((await tags.change('order', { step: 8 })).after).toMatchObject({ step: 8 });
  await fixture.close();
});

it('periods whose names are equal for the collation do not share a row, and its error says so', async () => {
  const fixture = await tagFixture(await server.createDatabase(), () => Promise.resolve());
  const { tags, segments, execute } = fixture;
  const begin = async (tag: string): Promise<void> => {
    const kind = await tags.create({ tag, step: 10, reset: 'daily', zone: 'UTC' });
    await segments.beginPeriod(tag, kind, day(), 1n);
  };
  await begin('Invoice');
  await tags.remove('Invoice');
  await expect(begin('invoice')).rejects.toMatchObject({
    code: 'LEAF_TAG_ROW_INVALID',
    message: expect.stringContaining('utf8mb4_bin') as string,
  });
  await tags.change('invoice', { max: 3n });
  expect(await execute("SELECT last_id FROM leaf_alloc WHERE biz_tag LIKE 'Invoice@%'")).toEqual([{ last_id: null }]);
  await execute(
    "ALTER TABLE leaf_alloc MODIFY biz_tag varchar(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT ''",
  );
  await segments.beginPeriod('invoice', (await segments.findTag('invoice'))!.kind!, day(), 1n);
  await fixture.close();
});

describe('a proxy that sends the last statement of an allocation to another connection', () => {
  it.each([
    ['that has allocated nothing', false],
    ['that has made an allocation', true],
  ])('%s, is noticed', async (_, isUsed) => {
    const target = parseDatabaseUrl(`${await server.createDatabase()}?connections=1`);
    const [one, other] = [await connect(target), await connect(target)];
    let turnOf: (index: number) => SqlDatabase = () => one.access;
    const runTogether: SqlDatabase['runTogether'] = async (statements) => {
      const answers: unknown[] = [];
      for (const [index, { sql, parameters }] of statements.entries())
        answers.push(await turnOf(index).run(sql, [...parameters]));
      return answers;
    };
    const access = Object.assign(Object.create(one.access) as SqlDatabase, { runTogether });
    const store = createSegmentStore({ target, access }, FAILOVER);
    try {
      expect(await store.allocate('leaf-segment-test', 10)).toMatchObject({ from: 1n });
      if (isUsed) {
        turnOf = () => other.access;
        expect(await store.allocate('leaf-segment-test', 10)).toMatchObject({ from: 11n });
      }
      turnOf = (index) => (index < 3 ? one : other).access;
      await expect(store.allocate('leaf-segment-test', 10)).rejects.toMatchObject({
        code: 'LEAF_DATABASE_UNUSABLE',
        message: expect.stringContaining('Configure the proxy') as string,
      });
    } finally {
      await one.destroy();
      await other.destroy();
    }
  });
});
