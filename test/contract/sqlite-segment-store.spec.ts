import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { segmentStoreContract } from './segment-store.contract';
import { sqlFixture } from './sql-stores';

segmentStoreContract('SqliteSegmentStore', {
  open: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'leaf-store-'));
    return sqlFixture(`sqlite:${join(directory, 'leaf.sqlite')}`, () => rm(directory, { recursive: true }));
  },
});
