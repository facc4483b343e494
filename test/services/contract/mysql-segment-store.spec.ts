import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { interleavedTagContract } from '../../contract/interleaved-tag.contract';
import { olderVersionsContract } from '../../contract/older-versions.contract';
import { periodContract } from '../../contract/period.contract';
import { restoreContract } from '../../contract/restore.contract';
import { segmentStoreContract } from '../../contract/segment-store.contract';
import { databaseFixture, type SingleDatabaseFixture, sqlFixture, tagFixture } from '../../contract/sql-stores';
import { tagStoreContract } from '../../contract/tag-store.contract';

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
restoreContract('MariaDB', async () => databaseFixture(await server.createDatabase(), () => Promise.resolve()));
olderVersionsContract('MariaDB', true, makeTags);

it('a description that an old table has no characters for is refused as bad input', async () => {
  const fixture = await tagFixture(await server.createDatabase(), () => Promise.resolve());
  const { tags } = fixture;
  await fixture.execute('ALTER TABLE leaf_alloc CONVERT TO CHARACTER SET latin1');
  const tag = { tag: 'order', step: 1 };
  await expect(tags.create({ ...tag, description: '漢' })).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID' });
  expect(await tags.create({ ...tag, description: 'é' })).toMatchObject({ description: 'é' });
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
