import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Numbers } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { createStores, createTagStore } from '@leaf-ids/persistence';
import { clock, databaseFixture } from '../../support/contract/sql-stores';

it('one answer is enough when the database lacks several times that somebody has said where the numbers go on', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-numbers-'));
  const url = `sqlite:${join(directory, 'leaf.sqlite')}`;
  const fixture = await databaseFixture(url, () => rm(directory, { recursive: true }));
  const { database } = fixture;
  const stores = createStores(database, { gapSteps: 10, onFailover: () => undefined }, {}, clock);
  const numbers = new Numbers(stores.numbers, clock, systemRandom, { waitMs: 5000 });
  const issue = async (key: string): Promise<bigint> =>
    (await numbers.issue('invoice', [key], 'till'))[0]!.number.number;
  const resume = (lastNumber: bigint): Promise<number> =>
    numbers.continueAfter('invoice', { lastNumber, by: 'admin', reason: 'restored' });
  await createTagStore(database).create({ tag: 'invoice', step: 1, order: 'gapless' });
  await issue('a');
  for (const last of [1n, 2n, 3n]) {
    await resume(last);
    await issue(`after ${last}`);
  }
  // A copy from before, while the server runs.
  await database.query(
    'UPDATE leaf_number_head SET next_number = 2, position = 1, continued = 0, hash = (SELECT hash FROM leaf_number_journal WHERE position = 1)',
  );
  for (const table of ['leaf_number', 'leaf_number_journal'])
    await database.query(`DELETE FROM ${table} WHERE number > 1`);
  await expect(issue('b')).rejects.toMatchObject({ code: 'LEAF_NUMBERS_HISTORY_LOST' });
  await resume(4n);
  expect(await issue('b')).toBe(5n);
  await numbers.close();
  await fixture.close();
});
