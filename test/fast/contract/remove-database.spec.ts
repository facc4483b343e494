import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { createTagStore, parseDatabaseUrl, removeDatabase } from '@leaf-ids/persistence';
import { REFUSED } from '../../support/http/refusal';
import { shardedDatabases } from '../../support/servers/shards';
import { moveTagsContract } from '../../support/contract/move-tags.contract';
import { removeDatabaseContract } from '../../support/contract/remove-database.contract';
import { connect, PATIENT } from '../../support/contract/sql-stores';
import { failingFile, type ThreeDatabases } from '../../support/contract/three-databases';

async function threeFiles(): Promise<ThreeDatabases> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-remove-'));
  const file = (name: string): string => `sqlite:${join(directory, name)}.sqlite`;
  return {
    urls: { a: file('a'), b: file('b'), c: file('c') },
    failing: (_, event) => failingFile(event),
    cleanUp: () => rm(directory, { recursive: true }),
  };
}

removeDatabaseContract('SQLite', threeFiles);
moveTagsContract('SQLite', threeFiles);

it('ends, and changes nothing, at a row that cannot be renamed', async () => {
  const { urls, cleanUp } = await threeFiles();
  const { shards } = shardedDatabases(urls, {}, PATIENT);
  await shards.start();
  await shards.close();
  const c = await connect(parseDatabaseUrl(urls.c));
  await c.query(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 10)`);
  await c.query('CREATE TRIGGER ignoring BEFORE UPDATE ON leaf_alloc BEGIN SELECT RAISE(IGNORE); END');
  const tags = { order: 'c' };
  const removed = removeDatabase(
    { shards: { databases: urls, tags }, database: 'c', dryRun: false },
    new SystemClock(),
    systemRandom,
  );
  await expect(removed).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
  await c.query('DROP TRIGGER ignoring');
  expect((await createTagStore(c).find('order'))?.maxId).toBe(1n);
  await c.destroy();
  await cleanUp();
});
