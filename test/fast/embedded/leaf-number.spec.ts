import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Numbers } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { LeafNumbers } from '@leaf-ids/orm';
import { openPersistence } from '@leaf-ids/persistence';
import { Invoice, leafNumberContract, Receipt } from '../../support/contract/leaf-number.contract';
import { clock } from '../../support/contract/sql-stores';
import { openSqliteFile } from '../../support/servers/orm-databases';

const directories: string[] = [];
afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

leafNumberContract('an SQLite file', true, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-number-'));
  directories.push(directory);
  const file = join(directory, 'leaf.sqlite');
  return {
    dataSource: await openSqliteFile(file, [Invoice, Receipt]),
    leaf: { url: `sqlite:${file}`, migrate: true },
  };
});

it('a transaction that sees an SQLite file as it was has to run again, and no number counts as lost', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-number-'));
  directories.push(directory);
  const file = join(directory, 'leaf.sqlite');
  const persistence = (await openPersistence({ url: `sqlite:${file}`, migrate: true }))!;
  await persistence.tags.create({ tag: 'invoice', step: 1, order: 'gapless' });
  const dataSource = await openSqliteFile(file, []);
  const numbers = new Numbers(persistence.numbers, clock, systemRandom, { waitMs: 20_000 });
  await numbers.issue('invoice', ['first'], 'till');
  const draw = (before: () => Promise<unknown>): Promise<string> =>
    dataSource.transaction(async (manager) => {
      await manager.query('SELECT count(*) FROM leaf_number');
      await before();
      return new LeafNumbers(numbers).next(manager, 'invoice', 'third');
    });
  const again = { code: 'LEAF_STORE_UNAVAILABLE' };
  await expect(draw(() => numbers.issue('invoice', ['second'], 'till'))).rejects.toMatchObject(again);
  expect(await draw(() => Promise.resolve())).toBe('3');
  expect(await numbers.issue('invoice', ['fourth'], 'till')).toMatchObject([{ number: { number: 4n } }]);
  await persistence.onApplicationShutdown();
  await dataSource.destroy();
});
