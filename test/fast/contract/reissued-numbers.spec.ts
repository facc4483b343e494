import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Numbers } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { createStores, createTagStore } from '@leaf-ids/persistence';
import { clock, databaseFixture } from '../../support/contract/sql-stores';

it('a document whose void number another one has is neither confirmed nor shown', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-numbers-'));
  const url = `sqlite:${join(directory, 'leaf.sqlite')}`;
  const fixture = await databaseFixture(url, () => rm(directory, { recursive: true }));
  const { database } = fixture;
  const stores = createStores(database, { gapSteps: 10, onFailover: () => undefined }, {}, clock);
  const numbers = new Numbers(stores.numbers, clock, systemRandom, { waitMs: 5000 });
  const settled = expect.objectContaining({ code: 'LEAF_NUMBER_SETTLED' }) as Error;
  try {
    await createTagStore(database).create({ tag: 'invoice', step: 1, order: 'gapless', reissue: true });
    await numbers.issue('invoice', ['former'], 'till');
    await numbers.void('invoice', 'former', 'till', 'not needed');
    const [next] = await numbers.issue('invoice', ['next'], 'till');
    expect(numbers.textOf('invoice', next!.number)).toBe('1');
    const former = await numbers.find('invoice', 'former');
    expect(former).toMatchObject({ number: 1n, state: 'reissued' });
    expect(() => numbers.textOf('invoice', former)).toThrow(settled);
    await expect(numbers.confirm('invoice', 'former', 'till')).rejects.toEqual(settled);
  } finally {
    await numbers.close();
    await fixture.close();
  }
});
