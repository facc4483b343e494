import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { segmentStoreContract } from './segment-store.contract';
import { sqlFixture, tagFixture } from './sql-stores';
import { tagStoreContract } from './tag-store.contract';

async function inNewDirectory<Fixture>(
  open: (url: string, cleanUp: () => Promise<void>) => Promise<Fixture>,
): Promise<Fixture> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-store-'));
  return open(`sqlite:${join(directory, 'leaf.sqlite')}`, () => rm(directory, { recursive: true }));
}

segmentStoreContract('SqliteSegmentStore', { open: () => inNewDirectory(sqlFixture) });
tagStoreContract('SQLite', () => inNewDirectory(tagFixture));
