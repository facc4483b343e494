import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShardRouter } from '@leaf-ids/persistence';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type ShardedDatabases, shardedDatabases } from '../../support/servers/shards';
import { periodContract } from '../../support/contract/period.contract';
import { segmentStoreContract } from '../../support/contract/segment-store.contract';
import { PATIENT, type SqlFixture, sqlFixture } from '../../support/contract/sql-stores';
import { tagStoreContract, type TagStoreFixture } from '../../support/contract/tag-store.contract';

let server: MariadbServer;
beforeAll(async () => (server = await startMariadb()));
afterAll(() => server.stop());

/** Two files and a database of a server, with a direct way to the rows of each. */
async function makeDatabases(): Promise<{
  readonly urls: Record<string, string>;
  readonly rows: ReadonlyMap<string, SqlFixture>;
  readonly cleanUp: () => Promise<void>;
}> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-shards-'));
  const urls = {
    a: `sqlite:${join(directory, 'a.sqlite')}`,
    b: await server.createDatabase(),
    c: `sqlite:${join(directory, 'c.sqlite')}`,
  };
  const rows = new Map<string, SqlFixture>();
  for (const [name, url] of Object.entries(urls)) rows.set(name, await sqlFixture(url, () => Promise.resolve()));
  return {
    urls,
    rows,
    cleanUp: async () => {
      for (const fixture of rows.values()) await fixture.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function start(urls: Record<string, string>): Promise<ShardedDatabases> {
  const databases = shardedDatabases(urls, {}, PATIENT);
  await databases.shards.start();
  return databases;
}

segmentStoreContract('ShardedSegmentStore', {
  open: async () => {
    const { urls, rows, cleanUp } = await makeDatabases();
    const [first, second] = [await start(urls), await start(urls)];
    const router = new ShardRouter(Object.keys(urls), {});
    const rowsOf = (tag: string): SqlFixture => rows.get(router.shardOf(tag))!;
    return {
      store: first.segments,
      second: second.segments,
      putRow: (tag, maxId, step) => rowsOf(tag).putRow(tag, maxId, step),
      readMaxId: (tag) => rowsOf(tag).readMaxId(tag),
      putDeleted: (tag, nextId) => rowsOf(tag).putDeleted(tag, nextId),
      close: async () => {
        await first.shards.close();
        await second.shards.close();
        await cleanUp();
        expect([...first.reports, ...second.reports]).toStrictEqual([]);
      },
    };
  },
});

async function openTags(): Promise<TagStoreFixture> {
  const { urls, rows, cleanUp } = await makeDatabases();
  const { shards, segments, tags } = await start(urls);
  return {
    tags,
    segments,
    execute: async (sql) => {
      for (const { execute } of rows.values()) await execute(sql);
    },
    close: async () => {
      await shards.close();
      await cleanUp();
    },
  };
}

tagStoreContract('ShardedTagStore', openTags);
periodContract('ShardedTagStore', openTags);
