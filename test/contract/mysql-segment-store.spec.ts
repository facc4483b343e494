import { type MariadbServer, startMariadb } from '../support/mariadb';
import { segmentStoreContract } from './segment-store.contract';
import { sqlFixture, tagFixture } from './sql-stores';
import { tagStoreContract } from './tag-store.contract';

let server: MariadbServer;
beforeAll(async () => (server = await startMariadb()));
afterAll(() => server.stop());

segmentStoreContract('MysqlSegmentStore', {
  open: async () => sqlFixture(await server.createDatabase(), () => Promise.resolve()),
});

tagStoreContract('MariaDB', async () => tagFixture(await server.createDatabase(), () => Promise.resolve()));
