import { type PostgresServer, startPostgres } from '../support/postgres';
import { periodContract } from './period.contract';
import { segmentStoreContract } from './segment-store.contract';
import { sqlFixture, tagFixture } from './sql-stores';
import { tagStoreContract } from './tag-store.contract';

let server: PostgresServer;
beforeAll(async () => (server = await startPostgres()));
afterAll(() => server.stop());

segmentStoreContract('PostgresSegmentStore', {
  open: async () => sqlFixture(await server.createDatabase(), () => Promise.resolve()),
});

tagStoreContract('PostgreSQL', async () => tagFixture(await server.createDatabase(), () => Promise.resolve()));
periodContract('PostgreSQL', async () => tagFixture(await server.createDatabase(), () => Promise.resolve()));
