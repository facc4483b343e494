import { MAX_BLOCKS } from '@leaf-ids/core/internal';
import { openedForEach, type TagStoreFixture } from './tag-store.contract';
import { REFUSED } from '../http/refusal';

/** Contract for one database; with several databases, Leaf assigns the remainders. */
export function interleavedTagContract(name: string, open: () => Promise<TagStoreFixture>): void {
  describe(`${name} with interleaved tags`, () => {
    const fixture = openedForEach(open);

    it('keeps the share', async () => {
      const interleave = { of: 3, remainder: 0, block: 1000 };
      expect(await fixture.tags.create({ tag: 'shared', step: 10, interleave })).toMatchObject({ interleave });
      expect(await fixture.segments.findTag('shared')).toMatchObject({ kind: { interleave } });
      await expect(fixture.tags.change('shared', { max: 5n })).rejects.toEqual(REFUSED('LEAF_BODY_INVALID'));
    });

    it('gives whole blocks of an interleaved tag', async () => {
      const { segments } = fixture;
      await fixture.tags.create({ tag: 'a', step: 5, interleave: { of: 3, remainder: 1, block: 10 } });
      expect(await fixture.tags.find('a')).toMatchObject({ maxId: 11n });
      expect(await segments.allocate('a', undefined)).toMatchObject({ from: 11n, to: 20n, step: 5 });
      expect(await segments.allocate('a', 10)).toMatchObject({ from: 41n, to: 50n, more: [] });
      expect(await segments.giveBack('a', { from: 45n, to: 50n })).toBe(false);
      expect(await segments.giveBack('a', { from: 41n, to: 50n })).toBe(true);
      expect(await segments.giveBack('a', { from: 11n, to: 20n })).toBe(true);
      expect(await segments.giveBack('a', { from: 11n, to: 20n })).toBe(false);
      await segments.raise('a', 42n);
      expect(await fixture.tags.find('a')).toMatchObject({ maxId: 71n });
      await segments.raise('a', 42n);
      // The rest of a block, which a gap of the failover guard can leave, is skipped.
      await fixture.execute("UPDATE leaf_alloc SET next_id = next_id + 1 WHERE biz_tag = 'a'");
      expect(await segments.allocate('a', 1)).toMatchObject({ from: 101n, to: 110n });
      expect((await fixture.tags.change('a', { maxId: 200n })).after).toMatchObject({ maxId: 221n });
      await expect(fixture.tags.change('a', { maxId: 220n })).rejects.toEqual(REFUSED('LEAF_MAX_ID_BACKWARDS'));
      expect((await fixture.tags.change('a', { step: 7 })).after).toMatchObject({ maxId: 221n, step: 7 });
      await fixture.tags.remove('a');
      expect(await fixture.tags.create({ tag: 'a', step: 5 })).toMatchObject({ maxId: 221n });
      await fixture.tags.remove('a');
      const again = await fixture.tags.create({ tag: 'a', step: 5, interleave: { of: 3, remainder: 0, block: 100 } });
      expect(again).toMatchObject({ maxId: 301n });
      await fixture.execute("UPDATE leaf_alloc SET next_id = 1 WHERE biz_tag = 'a'");
      expect(await segments.allocate('a', 1)).toMatchObject({ from: 301n, to: 400n });
    });

    it('gives many blocks of an interleaved tag at once', async () => {
      const { segments } = fixture;
      await fixture.tags.create({ tag: 'a', step: 5, interleave: { of: 2, remainder: 1, block: 10 } });
      const more = [
        { from: 31n, to: 40n },
        { from: 51n, to: 60n },
      ];
      expect(await segments.allocate('a', 21)).toMatchObject({ from: 11n, to: 20n, more });
      expect(await segments.allocate('a', 1)).toMatchObject({ from: 71n, to: 80n, more: [] });
      const last = (await segments.allocate('a', 10 * MAX_BLOCKS + 1)).more?.at(-1);
      expect(last).toEqual({ from: 91n + 20n * BigInt(MAX_BLOCKS - 1), to: 100n + 20n * BigInt(MAX_BLOCKS - 1) });
      expect(await segments.giveBack('a', last!)).toBe(true);
      expect(await segments.allocate('a', undefined)).toMatchObject(last!);
      await fixture.execute("UPDATE leaf_alloc SET next_id = 4611686018427387891 WHERE biz_tag = 'a'");
      expect(await segments.allocate('a', 100)).toMatchObject({ to: 9223372036854775800n, more: [] });
      await expect(segments.allocate('a', 1)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
    });

    it('gives every block of an interleaved tag once to many at once', async () => {
      await fixture.tags.create({ tag: 'a', step: 5, interleave: { of: 2, remainder: 0, block: 10 } });
      const takes = Array.from({ length: 8 }, () => fixture.segments.allocate('a', 1));
      const starts = (await Promise.all(takes)).map(({ from }) => Number(from)).sort((a, b) => a - b);
      expect(starts).toEqual(Array.from({ length: 8 }, (_, index) => index * 20 + 1));
    });

    it('refuses an interleaved row that makes no sense', async () => {
      await fixture.tags.create({ tag: 'a', step: 5, interleave: { of: 2, remainder: 0, block: 10 } });
      await fixture.execute("UPDATE leaf_alloc SET interleave_remainder = 2 WHERE biz_tag = 'a'");
      await expect(fixture.segments.allocate('a', 1)).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
      expect(await fixture.segments.findTag('a')).toMatchObject({ kind: undefined });
    });
  });
}
