import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleavedTagContract } from '../../support/contract/interleaved-tag.contract';
import { olderVersionsContract } from '../../support/contract/older-versions.contract';
import { lostHistoryContract } from '../../support/contract/lost-history.contract';
import { periodContract } from '../../support/contract/period.contract';
import { restoreContract } from '../../support/contract/restore.contract';
import { segmentStoreContract } from '../../support/contract/segment-store.contract';
import { databaseFixture, sqlFixture, tagFixture } from '../../support/contract/sql-stores';
import { tagStoreContract } from '../../support/contract/tag-store.contract';

async function inNewDirectory<Fixture>(
  open: (url: string, cleanUp: () => Promise<void>) => Promise<Fixture>,
): Promise<Fixture> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-store-'));
  return open(`sqlite:${join(directory, 'leaf.sqlite')}`, () => rm(directory, { recursive: true }));
}

segmentStoreContract('SqliteSegmentStore', { open: () => inNewDirectory(sqlFixture) });
tagStoreContract('SQLite', () => inNewDirectory(tagFixture));
interleavedTagContract('SQLite', () => inNewDirectory(tagFixture));
periodContract('SQLite', () => inNewDirectory(tagFixture));
lostHistoryContract('SQLite', () => inNewDirectory(databaseFixture));
restoreContract('SQLite', () => inNewDirectory(databaseFixture));
olderVersionsContract('SQLite', false, () => inNewDirectory(tagFixture));

describe('a row, whose columns keep whatever they are given', () => {
  it.each([
    ['max_id', "'many'"],
    ['max_id', '1.5'],
    ['max_id', '9.3e18'],
    ['max_id', "X'01'"],
    ['step', '2147483648'],
    ['step', '9007199254740995'],
    ['step', '2.5'],
    ['step', "'ten'"],
  ])('with %s %s gives no ID, is left as it is and can be mended', async (column, value) => {
    const fixture = await inNewDirectory(tagFixture);
    const { tags, segments, execute } = fixture;
    try {
      await tags.create({ tag: 'order', step: 10, maxId: 5n });
      await execute(`UPDATE leaf_alloc SET ${column} = ${value}`);
      const before = await execute('SELECT CAST(max_id AS TEXT), CAST(step AS TEXT) FROM leaf_alloc');
      for (const size of [undefined, 7]) {
        await expect(segments.allocate('order', size)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
      }
      expect(await execute('SELECT CAST(max_id AS TEXT), CAST(step AS TEXT) FROM leaf_alloc')).toEqual(before);
      expect(await tags.list()).toHaveLength(1);
      const maxId = 2n ** 63n - 100n;
      if (column === 'step' || value !== '9.3e18') await tags.change('order', { step: 10, maxId });
      else await execute(`UPDATE leaf_alloc SET max_id = ${maxId}`);
      expect(await segments.allocate('order', undefined)).toMatchObject({ from: maxId });
    } finally {
      await fixture.close();
    }
  });
});

it('a task of many statements lets the event loop go on', async () => {
  const fixture = await inNewDirectory(tagFixture);
  const { segments, tags } = fixture;
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  try {
    await tags.create({ tag: 'order', step: 10 });
    setImmediate(turn);
    // How many statements one turn has depends on the disk.
    const allocate = async (): Promise<void> => {
      for (let n = 0; n < 2_000 && turns < 10; n++) await segments.allocate('order', undefined);
    };
    await Promise.all([allocate(), allocate()]);
    expect(turns).toBeGreaterThanOrEqual(10);
  } finally {
    isOver = true;
    await fixture.close();
  }
});
