import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import { interleavedTagContract } from '../../support/contract/interleaved-tag.contract';
import { numbersContract } from '../../support/contract/numbers.contract';
import { numberPeriodsContract } from '../../support/contract/number-periods.contract';
import { olderVersionsContract } from '../../support/contract/older-versions.contract';
import { lostHistoryContract } from '../../support/contract/lost-history.contract';
import { periodContract } from '../../support/contract/period.contract';
import { type DatabaseFixture, restoreContract } from '../../support/contract/restore.contract';
import { segmentStoreContract } from '../../support/contract/segment-store.contract';
import { databaseFixture, type SingleDatabaseFixture, sqlFixture, tagFixture } from '../../support/contract/sql-stores';
import { tagStoreContract } from '../../support/contract/tag-store.contract';

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
numbersContract('PostgreSQL', makeDatabase);
numberPeriodsContract('PostgreSQL', makeDatabase);
