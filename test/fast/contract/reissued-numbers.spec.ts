import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Numbers } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { createStores, createTagStore } from '@leaf-ids/persistence';
import { clock, databaseFixture } from '../../support/contract/sql-stores';
import type { DatabaseFixture } from '../../support/contract/restore.contract';

describe('a tag that gives void numbers out again', () => {
  const INVOICE = { tag: 'invoice', step: 1, order: 'gapless', reissue: true } as const;
  let fixture: DatabaseFixture;
  let numbers: Numbers;

  beforeEach(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'leaf-numbers-'));
    const url = `sqlite:${join(directory, 'leaf.sqlite')}`;
    fixture = await databaseFixture(url, () => rm(directory, { recursive: true }));
    const stores = createStores(fixture.database, { gapSteps: 10, onFailover: () => undefined }, {}, clock);
    numbers = new Numbers(stores.numbers, clock, systemRandom, { waitMs: 5000 });
  });
  afterEach(async () => {
    await numbers.close();
    await fixture.close();
  });

  it('neither confirms nor shows a document whose void number another one has', async () => {
    const settled = expect.objectContaining({ code: 'LEAF_NUMBER_SETTLED' }) as Error;
    await createTagStore(fixture.database).create(INVOICE);
    await numbers.issue('invoice', ['former'], 'till');
    await numbers.void('invoice', 'former', 'till', 'not needed');
    const [next] = await numbers.issue('invoice', ['next'], 'till');
    expect(numbers.textOf('invoice', next!.number)).toBe('1');
    const former = await numbers.find('invoice', 'former');
    expect(former).toMatchObject({ number: 1n, state: 'reissued' });
    expect(() => numbers.textOf('invoice', former)).toThrow(settled);
    await expect(numbers.confirm('invoice', 'former', 'till')).rejects.toEqual(settled);
  });

  it('skips no number above its max, however many numbers are void', async () => {
    await createTagStore(fixture.database).create({ ...INVOICE, max: 4n });
    await numbers.issue('invoice', ['a', 'b', 'c'], 'till');
    for (const key of ['a', 'b', 'c']) await numbers.void('invoice', key, 'till', 'not needed');
    const where = { by: 'admin', reason: 'restored' };
    await expect(numbers.continueAfter('invoice', { ...where, lastNumber: 6n })).rejects.toMatchObject({
      code: 'LEAF_TAG_EXHAUSTED',
    });
    expect(await numbers.continueAfter('invoice', { ...where, lastNumber: 4n })).toBe(1);
  });
});
