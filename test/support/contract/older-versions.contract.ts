import type { NewTag } from '@leaf-ids/core';
import { REFUSED } from '../http/refusal';
import type { SingleDatabaseFixture } from './sql-stores';

const SETTINGS: readonly Omit<NewTag, 'tag' | 'step'>[] = [
  { max: 5000n },
  { order: 'strict' },
  { reset: 'yearly', zone: 'UTC' },
  { interleave: { of: 3, remainder: 1, block: 1000 } },
];
/** Settings that came after the column `next_id`: no migration finds a row with them. */
const LATER: typeof SETTINGS = [
  { reset: 'weekly', zone: 'UTC' },
  { reset: 'fiscal:04-01', zone: 'UTC' },
  { order: 'gapless' },
  { order: 'gapless', reset: 'monthly', zone: 'UTC', max: 5000n },
];
/** As the Java service allocates a step, whatever the row contains. */
const JAVA = "UPDATE leaf_alloc SET max_id = max_id + 100 WHERE biz_tag = 'order'";
/** As a version of Leaf that does not know the settings. */
const EARLIER = `${JAVA} AND max_id > 0 AND max_id <= 9223372036854775806 + 1 - 100`;

/**
 * Contract of tag stores beside the Java service and earlier versions, which ignore the settings of a tag.
 *
 * @param isServer whether the Java service can use the database
 */
export function olderVersionsContract(
  name: string,
  isServer: boolean,
  open: () => Promise<SingleDatabaseFixture>,
): void {
  describe(`${name} beside programs that ignore settings`, () => {
    let fixture: SingleDatabaseFixture;
    beforeEach(async () => (fixture = await open()));
    afterEach(() => fixture.close());

    it.each([...SETTINGS, ...LATER])('keeps them from a tag with %j', async (settings) => {
      const created = await fixture.tags.create({ tag: 'order', step: 100, maxId: 7n, ...settings });
      await fixture.execute(EARLIER);
      if (isServer) await expect(fixture.execute(JAVA)).rejects.toThrow(/out of range/);
      expect(await fixture.tags.find('order')).toEqual(created);
      if (settings.reset !== undefined || settings.order === 'gapless') return;
      expect(await fixture.segments.allocate('order', 10)).toMatchObject({ from: created.maxId });
    });

    it('keeps them from a tag that is given a max, and lets them in when it is removed', async () => {
      await fixture.tags.create({ tag: 'order', step: 100 });
      await fixture.execute(JAVA);
      expect((await fixture.tags.change('order', { max: 5000n })).after).toMatchObject({ maxId: 101n });
      await fixture.execute(EARLIER);
      if (isServer) await expect(fixture.execute(JAVA)).rejects.toThrow(/out of range/);
      expect(await fixture.segments.allocate('order', 10)).toMatchObject({ from: 101n, to: 110n });
      expect((await fixture.tags.change('order', { max: null })).after).toMatchObject({ maxId: 111n });
      await fixture.execute(JAVA);
      expect(await fixture.segments.allocate('order', 10)).toMatchObject({ from: 211n });
    });

    it('keeps them from the numbers of periods', async () => {
      await fixture.tags.create({ tag: 'order', step: 100, reset: 'yearly', zone: 'UTC' });
      const period = { name: 'now', opensAt: Date.now() - 1e9, closesAt: Date.now() + 1e9 };
      await fixture.segments.beginPeriod('order', (await fixture.segments.findTag('order'))!.kind!, period, 1n);
      await fixture.execute(EARLIER.replace("'order'", "'order@now'"));
      expect(await fixture.segments.allocate('order@now', 10)).toMatchObject({ from: 1n });
    });

    it('refuses a row whose max_id was set beside its settings', async () => {
      await fixture.tags.create({ tag: 'order', step: 100, max: 5000n });
      await fixture.execute("UPDATE leaf_alloc SET max_id = 1 WHERE biz_tag = 'order'");
      await expect(fixture.segments.allocate('order', 10)).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
      await fixture.tags.change('order', { maxId: 4000n });
      expect(await fixture.segments.allocate('order', 10)).toMatchObject({ from: 4000n });
    });

    it('keeps them from rows with settings that a migration finds', async () => {
      for (const settings of SETTINGS) {
        await fixture.tags.create({ tag: 'order', step: 100, maxId: 7n, ...settings });
        const before = await fixture.tags.find('order');
        await fixture.execute('UPDATE leaf_alloc SET max_id = next_id');
        await fixture.execute('UPDATE leaf_alloc SET next_id = NULL');
        await fixture.migrateAgain('AddNextId1795219200011');
        await fixture.execute(EARLIER);
        expect(await fixture.tags.find('order')).toEqual({ ...before, updatedAt: expect.any(Number) });
        await fixture.execute('DELETE FROM leaf_alloc');
      }
    });
  });
}
