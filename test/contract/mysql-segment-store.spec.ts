import { type MariadbServer, startMariadb } from '../support/mariadb';
import { segmentStoreContract } from './segment-store.contract';
import { sqlFixture } from './sql-stores';

let server: MariadbServer;
beforeAll(async () => (server = await startMariadb()));
afterAll(() => server.stop());

segmentStoreContract('MysqlSegmentStore', {
  open: async () => sqlFixture(await server.createDatabase(), () => Promise.resolve()),
});
