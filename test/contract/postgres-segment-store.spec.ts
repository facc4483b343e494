import { type PostgresServer, startPostgres } from '../support/postgres';
import { interleavedTagContract } from './interleaved-tag.contract';
import { periodContract } from './period.contract';
import { segmentStoreContract } from './segment-store.contract';
import { sqlFixture, tagFixture } from './sql-stores';
import { tagStoreContract, type TagStoreFixture } from './tag-store.contract';

let server: PostgresServer;
beforeAll(async () => (server = await startPostgres()));
afterAll(() => server.stop());

segmentStoreContract('PostgresSegmentStore', {
  open: async () => sqlFixture(await server.createDatabase(), () => Promise.resolve()),
});

const makeTags = async (): Promise<TagStoreFixture> =>
  tagFixture(await server.createDatabase(), () => Promise.resolve());

tagStoreContract('PostgreSQL', makeTags);
interleavedTagContract('PostgreSQL', makeTags);
periodContract('PostgreSQL', makeTags);
