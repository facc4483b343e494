import { type PostgresServer, startPostgres } from '../support/postgres';
import { segmentStoreContract } from './segment-store.contract';
import { sqlFixture } from './sql-stores';

let server: PostgresServer;
beforeAll(async () => (server = await startPostgres()));
afterAll(() => server.stop());

segmentStoreContract('PostgresSegmentStore', {
  open: async () => sqlFixture(await server.createDatabase(), () => Promise.resolve()),
});
