import { type NewTag, type Period, periodRow, type TagKind, type TagRow } from '@leaf-ids/core';
import { PeriodCalendar, periodOf } from '@leaf-ids/core/internal';
import type { TagStoreFixture } from './tag-store.contract';
import { REFUSED } from '../http/refusal';

const DAY_MS = 86_400_000;

/** The date a number of days from today. */
export function day(ahead = 0): Period {
  return periodOf('daily', new PeriodCalendar('daily', 'UTC').nameAt(Date.now() + ahead * DAY_MS));
}

/** Contract of every database for the rows of periods. */
export function periodContract(name: string, open: () => Promise<TagStoreFixture>): void {
  describe(`${name}, periods`, () => {
    let fixture: TagStoreFixture;
    const today = day();
    const tomorrow = day(1);
    const invoice: NewTag = { tag: 'invoice', step: 10, reset: 'daily', zone: 'UTC' };

    beforeEach(async () => (fixture = await open()));
    afterEach(() => fixture.close());

    const create = (tag: Partial<NewTag> = {}): Promise<TagRow> => fixture.tags.create({ ...invoice, ...tag });
    const begin = (kind: TagKind, period = today, tag = 'invoice', least = 1n): Promise<void> =>
      fixture.segments.beginPeriod(tag, kind, period, least);
    async function first(period = today, tag = 'invoice'): Promise<bigint> {
      return (await fixture.segments.allocate(periodRow(tag, period.name), undefined)).from;
    }

    it('each begin where the tag says, and count by themselves', async () => {
      const kind = await create({ maxId: 100n });
      for (const period of [today, tomorrow]) {
        await begin(kind, period);
        expect([await first(period), await first(period)]).toEqual([100n, 110n]);
        await begin(kind, period);
        expect(await first(period)).toBe(120n);
      }
    });

    it('begin once, whoever comes at the same time', async () => {
      const kind = await create();
      const starts = await Promise.all(
        Array.from({ length: 20 }, async () => {
          await begin(kind);
          return first();
        }),
      );
      expect(starts.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => 1 + n * 10));
    });

    it('have the step and the bounds of the tag', async () => {
      const kind = await create({ maxStep: 40, max: 25n });
      await begin(kind);
      const row = periodRow('invoice', today.name);
      expect(await fixture.segments.allocate(row, undefined)).toMatchObject({
        from: 1n,
        to: 10n,
        step: 10,
        maxStep: 40,
      });
      await fixture.segments.allocate(row, 15);
      await expect(fixture.segments.allocate(row, 1)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
      await fixture.tags.change('invoice', { max: 30n, step: 5 });
      expect(await fixture.segments.allocate(row, undefined)).toMatchObject({ from: 26n, to: 30n, step: 5 });
    });

    it('are no tags, and the tag itself gives no IDs', async () => {
      const kind = await create();
      await begin(kind);
      expect(await fixture.tags.list()).toMatchObject([{ tag: 'invoice' }]);
      expect(await fixture.segments.listTags()).toEqual([
        { tag: 'invoice', kind: { order: 'relaxed', reset: 'daily', zone: 'UTC', interleave: undefined } },
      ]);
      await expect(fixture.segments.allocate('invoice', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_PERIODIC'));
      await expect(fixture.segments.allocate('invoice', 5)).rejects.toEqual(REFUSED('LEAF_TAG_PERIODIC'));
    });

    it('are of that tag alone', async () => {
      const kind = await create({ tag: 'a_b' });
      await create({ tag: 'axb' });
      for (const tag of ['a_b', 'axb']) await begin(kind, today, tag);
      await fixture.tags.change('a_b', { step: 7 });
      expect(await fixture.segments.allocate(periodRow('a_b', today.name), undefined)).toMatchObject({ step: 7 });
      expect(await fixture.segments.allocate(periodRow('axb', today.name), undefined)).toMatchObject({ step: 10 });
    });

    it('are refused of a tag that has none, or others', async () => {
      const kind = await create();
      await fixture.tags.create({ tag: 'order', step: 10 });
      await expect(begin(kind, today, 'nobody')).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      await expect(begin(kind, today, 'order')).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      await expect(begin({ ...kind, zone: 'Asia/Tokyo' })).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      await expect(begin({ ...kind, reset: 'yearly' })).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      await expect(first()).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
    });

    it.each([500, -5000])(
      'are refused %d days from the time of the database, whatever a server believes',
      async (days) => {
        const kind = await create();
        const far = day(days);
        await expect(begin(kind, far)).rejects.toEqual(REFUSED('LEAF_PERIOD_INVALID'));
        await expect(first(far)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      },
    );

    it('begin above what is known of a row that is gone', async () => {
      const kind = await create();
      await begin(kind);
      expect(await first()).toBe(1n);
      await fixture.execute("DELETE FROM leaf_alloc WHERE biz_tag LIKE 'invoice@%'");
      await begin(kind, today, 'invoice', 11n);
      const again = await first();
      expect(again).toBeGreaterThan(300n);
      expect(again).toBeLessThan(50_000n);
      await fixture.segments.recordDeleted(periodRow('invoice', tomorrow.name), 700n);
      await begin(kind, tomorrow);
      expect(await first(tomorrow)).toBeGreaterThanOrEqual(700n);
    });

    it('go on when the tag is deleted and made anew', async () => {
      const kind = await create();
      await begin(kind);
      await first();
      await fixture.tags.remove('invoice');
      await expect(begin(kind, tomorrow)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      await begin(await create());
      expect(await first()).toBe(11n);
    });

    it('begin where a change of the tag says from then on', async () => {
      const kind = await create();
      await begin(kind);
      expect((await fixture.tags.change('invoice', { maxId: 1000n })).after).toMatchObject({ maxId: 1000n });
      await expect(fixture.tags.change('invoice', { maxId: 999n })).rejects.toEqual(REFUSED('LEAF_MAX_ID_BACKWARDS'));
      await begin(kind, tomorrow);
      expect([await first(), await first(tomorrow)]).toEqual([1n, 1000n]);
    });

    it('begin at 1 though a tag without periods had the name', async () => {
      await fixture.tags.create({ tag: 'invoice', step: 10 });
      await fixture.segments.allocate('invoice', undefined);
      await fixture.tags.remove('invoice');
      await begin(await create());
      expect(await first()).toBe(1n);
    });
  });
}
