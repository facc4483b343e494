import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import { interleavedTagContract } from '../../contract/interleaved-tag.contract';
import { olderVersionsContract } from '../../contract/older-versions.contract';
import { lostHistoryContract } from '../../contract/lost-history.contract';
import { periodContract } from '../../contract/period.contract';
import { type DatabaseFixture, restoreContract } from '../../contract/restore.contract';
import { segmentStoreContract } from '../../contract/segment-store.contract';
import { databaseFixture, type SingleDatabaseFixture, sqlFixture, tagFixture } from '../../contract/sql-stores';
import { tagStoreContract } from '../../contract/tag-store.contract';

let server: PostgresServer;
beforeAll(async () => (server = await startPostgres()));
afterAll(() => server.stop());

segmentStoreContract('PostgresSegmentStore', {
  open: async () => sqlFixture(await server.createDatabase(), () => Promise.resolve()),
});

const makeTags = async (): Promise<SingleDatabaseFixture> =>
  tagFixture(await server.createDatabase(), () => Promise.resolve());

tagStoreContract('PostgreSQL', makeTags);
interleavedTagContract('PostgreSQL', makeTags);
periodContract('PostgreSQL', makeTags);
olderVersionsContract('PostgreSQL', true, makeTags);
const makeDatabase = async (): Promise<DatabaseFixture> =>
  databaseFixture(await server.createDatabase(), () => Promise.resolve());

lostHistoryContract('PostgreSQL', makeDatabase);
restoreContract('PostgreSQL', makeDatabase);
