import { MAX_ID, PLAIN_TAG, type SegmentStore } from '@leaf-ids/core';
import { allocateAllContract, assertGapless, type SegmentRows } from './allocate-all.contract';
import { REFUSED } from '../http/refusal';

export interface SegmentStoreFixture extends SegmentRows {
  close(): Promise<void>;
}

export interface SegmentStoreHarness {
  /** A storage that is not shared with other fixtures. */
  open(): Promise<SegmentStoreFixture>;
}

async function listed(store: SegmentStore): Promise<string[]> {
  return (await store.listTags()).map(({ tag }) => tag);
}

/** Contract of every `SegmentStore`. `max_id` is a signed 64-bit integer, so the highest ID is 2^63 - 2. */
export function segmentStoreContract(name: string, harness: SegmentStoreHarness): void {
  describe(`${name} as SegmentStore`, () => {
    let fixture: SegmentStoreFixture;
    let store: SegmentStore;
    let second: SegmentStore;

    beforeEach(async () => {
      fixture = await harness.open();
      ({ store, second } = fixture);
    });

    afterEach(() => fixture.close());

    describe('tags', () => {
      it('answers a ping, whatever tags there are', async () => {
        expect(await store.ping()).toBeUndefined();
      });

      it('lists every tag once', async () => {
        await fixture.putRow('a', 1n, 10);
        await fixture.putRow('b', 1n, 10);
        const tags = await listed(store);
        expect(tags).toEqual(expect.arrayContaining(['a', 'b']));
        expect(new Set(tags).size).toBe(tags.length);
      });

      it('lists a row that was added by another connection', async () => {
        expect(await listed(store)).not.toContain('a');
        await fixture.putRow('a', 1n, 10);
        expect(await listed(store)).toContain('a');
        expect(await listed(second)).toContain('a');
      });

      it('lists thousands of tags', async () => {
        const tags = Array.from({ length: 2003 }, (_, n) => `tag.${n}`);
        for (const tag of tags) await fixture.putRow(tag, 1n, 10);
        expect((await listed(store)).sort()).toEqual([...tags].sort());
        const paged: string[] = [];
        for await (const page of store.tagPages()) paged.push(...page.map(({ tag }) => tag));
        expect(paged.sort()).toEqual([...tags].sort());
      });

      it('knows a tag from an unknown one', async () => {
        await fixture.putRow('a', 1n, 10);
        expect(await store.findTag('a')).toMatchObject({ kind: PLAIN_TAG });
        expect(await store.findTag('b')).toBeUndefined();
        expect(await store.findTag('')).toBeUndefined();
      });

      it.each(['ORDER', 'Order', 'order ', ' order', 'orde', 'orders', 'ordér', '%', 'o_der'])(
        '"order" is not %j',
        async (other) => {
          await fixture.putRow('order', 1n, 10);
          expect(await store.findTag(other)).toBeUndefined();
          await expect(store.allocate(other, undefined)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
          await expect(store.allocate(other, 5)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
          await store.raise(other, 1000n);
          expect(await store.giveBack(other, { from: 1n, to: 0n })).toBe(false);
          expect(await fixture.readMaxId('order')).toBe(1n);
        },
      );

      it.each([
        ['Order', 'order'],
        ['order ', 'order'],
      ])('the row %j is not the tag %j', async (stored, asked) => {
        await fixture.putRow(stored, 1n, 10);
        expect(await store.findTag(asked)).toBeUndefined();
        await expect(store.allocate(asked, undefined)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
        expect(await fixture.readMaxId(stored)).toBe(1n);
      });

      it('takes every character that a tag may have', async () => {
        const letters = 'abcdefghijklmnopqrstuvwxyz';
        for (const tag of [`${letters}-_.:0123456789`, letters.toUpperCase(), '-', '_', '.', ':', 'x'.repeat(128)]) {
          await fixture.putRow(tag, 1n, 10);
          expect(await listed(store)).toContain(tag);
          expect(await store.findTag(tag)).toMatchObject({ kind: PLAIN_TAG });
          expect(await store.allocate(tag, undefined)).toEqual({ from: 1n, to: 10n, step: 10 });
        }
      });

      it.each([
        "o'brien",
        `x" OR "1"="1`,
        `x' OR '1'='1`,
        "x'; DROP TABLE leaf_alloc; --",
        'back\\slash',
        '`',
        '?',
        '$1',
      ])('takes %j as data', async (tag) => {
        await fixture.putRow('innocent', 7n, 10);
        expect(await store.findTag(tag)).toBeUndefined();
        await expect(store.allocate(tag, 3)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
        expect(await store.giveBack(tag, { from: 1n, to: 6n })).toBe(false);
        await store.raise(tag, 1000n);
        expect(await fixture.readMaxId('innocent')).toBe(7n);

        await fixture.putRow(tag, 1n, 10);
        expect(await store.findTag(tag)).toMatchObject({ kind: PLAIN_TAG });
        expect(await store.allocate(tag, 3)).toEqual({ from: 1n, to: 3n, step: 10 });
        expect(await store.giveBack(tag, { from: 2n, to: 3n })).toBe(true);
        await store.raise(tag, 50n);
        expect(await fixture.readMaxId(tag)).toBe(50n);
        expect(await fixture.readMaxId('innocent')).toBe(7n);
      });
    });

    describe('allocate', () => {
      it('takes as many as the step of the row says', async () => {
        await fixture.putRow('a', 1n, 2000);
        expect(await store.allocate('a', undefined)).toEqual({ from: 1n, to: 2000n, step: 2000 });
        expect(await fixture.readMaxId('a')).toBe(2001n);
        expect(await second.allocate('a', undefined)).toEqual({ from: 2001n, to: 4000n, step: 2000 });
        expect(await fixture.readMaxId('a')).toBe(4001n);
      });

      it.each([1, 7, 2000, 1_000_000, 2 ** 31 + 5])(
        'takes %d when told to, and says the step of the row',
        async (size) => {
          await fixture.putRow('a', 42n, 10);
          expect(await store.allocate('a', size)).toEqual({ from: 42n, to: 41n + BigInt(size), step: 10 });
          expect(await fixture.readMaxId('a')).toBe(42n + BigInt(size));
        },
      );

      it('sees a step that was changed', async () => {
        await fixture.putRow('a', 1n, 10);
        await store.allocate('a', undefined);
        await fixture.putRow('a', 11n, 2_147_483_647);
        expect(await store.allocate('a', 5)).toEqual({ from: 11n, to: 15n, step: 2_147_483_647 });
        expect(await store.allocate('a', undefined)).toMatchObject({ from: 16n, to: 2_147_483_662n });
      });

      it('leaves other tags alone', async () => {
        await fixture.putRow('a', 1n, 10);
        await fixture.putRow('b', 500n, 20);
        await store.allocate('a', undefined);
        expect(await fixture.readMaxId('b')).toBe(500n);
        expect(await store.allocate('b', undefined)).toEqual({ from: 500n, to: 519n, step: 20 });
      });

      it('refuses an unknown tag', async () => {
        await expect(store.allocate('none', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
        await expect(store.allocate('none', 10)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
        expect(await store.findTag('none')).toBeUndefined();
      });

      it.each([2n ** 31n - 3n, 2n ** 32n - 3n, 2n ** 53n - 3n, 2n ** 53n + 1n, 2n ** 60n + 1n, 2n ** 62n + 12_345n])(
        'is exact from %d on',
        async (maxId) => {
          await fixture.putRow('a', maxId, 3);
          expect(await store.allocate('a', undefined)).toEqual({ from: maxId, to: maxId + 2n, step: 3 });
          expect(await store.allocate('a', 1)).toEqual({ from: maxId + 3n, to: maxId + 3n, step: 3 });
          expect(await second.allocate('a', 2)).toEqual({ from: maxId + 4n, to: maxId + 5n, step: 3 });
          expect(await fixture.readMaxId('a')).toBe(maxId + 6n);
        },
      );

      it('gives the last IDs that the row can count', async () => {
        await fixture.putRow('a', MAX_ID - 10n, 10);
        expect(await store.allocate('a', undefined)).toEqual({ from: MAX_ID - 10n, to: MAX_ID - 1n, step: 10 });
        expect(await fixture.readMaxId('a')).toBe(MAX_ID);
        await expect(store.allocate('a', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
        await expect(store.allocate('a', 1)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
        expect(await fixture.readMaxId('a')).toBe(MAX_ID);
      });

      it('takes nothing when the IDs would not do', async () => {
        await fixture.putRow('a', MAX_ID - 9n, 10);
        await expect(store.allocate('a', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
        await expect(store.allocate('a', 1_000_000)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
        expect(await fixture.readMaxId('a')).toBe(MAX_ID - 9n);
        expect(await store.allocate('a', 9)).toEqual({ from: MAX_ID - 9n, to: MAX_ID - 1n, step: 10 });
      });

      it.each([
        ['step 0', 1n, 0],
        ['a negative step', 1n, -5],
        ['max_id 0', 0n, 10],
        ['a negative max_id', -100n, 10],
      ])('refuses a row with %s and leaves it', async (_, maxId, step) => {
        await fixture.putRow('bad', maxId, step);
        await expect(store.allocate('bad', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
        await expect(store.allocate('bad', 5)).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
        expect(await fixture.readMaxId('bad')).toBe(maxId);
      });

      it.each([
        ['one connection', 1],
        ['two connections', 2],
      ])('50 at once on %s are disjoint and leave no gap', async (_, connections) => {
        await fixture.putRow('a', 1n, 100);
        const stores = [store, second].slice(0, connections);
        const ranges = await Promise.all(
          Array.from({ length: 50 }, (__, i) =>
            stores[i % stores.length]!.allocate('a', i % 3 === 0 ? i + 1 : undefined),
          ),
        );
        const end = assertGapless(ranges, 1n);
        expect(await fixture.readMaxId('a')).toBe(end);
      });
    });

    allocateAllContract(() => fixture);

    describe('giveBack', () => {
      it('lowers max_id when nobody has allocated since', async () => {
        await fixture.putRow('a', 1n, 10);
        await store.allocate('a', undefined);
        expect(await store.giveBack('a', { from: 4n, to: 10n })).toBe(true);
        expect(await fixture.readMaxId('a')).toBe(4n);
        expect(await second.allocate('a', undefined)).toEqual({ from: 4n, to: 13n, step: 10 });
      });

      it('takes ranges back newest first', async () => {
        await fixture.putRow('a', 1n, 10);
        await store.allocate('a', 20);
        expect(await store.giveBack('a', { from: 11n, to: 20n })).toBe(true);
        expect(await store.giveBack('a', { from: 3n, to: 10n })).toBe(true);
        expect(await fixture.readMaxId('a')).toBe(3n);
      });

      it.each([
        ['somebody allocated since', { from: 4n, to: 9n }],
        ['the row is below', { from: 4n, to: 11n }],
        ['the row is far off', { from: 1000n, to: 2000n }],
      ])('changes nothing when %s', async (_, range) => {
        await fixture.putRow('a', 11n, 10);
        expect(await store.giveBack('a', range)).toBe(false);
        expect(await fixture.readMaxId('a')).toBe(11n);
      });

      it('changes nothing a second time', async () => {
        await fixture.putRow('a', 11n, 10);
        const range = { from: 4n, to: 10n };
        const answers = await Promise.all([store.giveBack('a', range), second.giveBack('a', range)]);
        expect(answers.sort()).toEqual([false, true]);
        expect(await store.giveBack('a', range)).toBe(false);
        expect(await fixture.readMaxId('a')).toBe(4n);
      });

      it('does not know an unknown tag', async () => {
        expect(await store.giveBack('none', { from: 1n, to: 10n })).toBe(false);
        expect(await store.findTag('none')).toBeUndefined();
      });

      it('compares exactly above 2^53', async () => {
        const maxId = 2n ** 53n + 2n;
        await fixture.putRow('a', maxId, 10);
        expect(await store.giveBack('a', { from: maxId - 3n, to: maxId })).toBe(false);
        expect(await store.giveBack('a', { from: maxId - 3n, to: maxId - 2n })).toBe(false);
        expect(await fixture.readMaxId('a')).toBe(maxId);
        expect(await store.giveBack('a', { from: maxId - 1n, to: maxId - 1n })).toBe(true);
        expect(await fixture.readMaxId('a')).toBe(maxId - 1n);
      });

      it('takes the last IDs back', async () => {
        await fixture.putRow('a', MAX_ID, 10);
        expect(await store.giveBack('a', { from: MAX_ID - 5n, to: MAX_ID - 1n })).toBe(true);
        expect(await fixture.readMaxId('a')).toBe(MAX_ID - 5n);
      });
    });

    describe('raise', () => {
      it.each([
        ['raises', 500n, 501n, 501n],
        ['leaves what is equal', 500n, 500n, 500n],
        ['never lowers', 500n, 499n, 500n],
        ['never lowers much', 500n, 1n, 500n],
        ['is exact above 2^53', 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 1n],
        ['raises to the end', 500n, MAX_ID, MAX_ID],
      ])('%s', async (_, maxId, minimum, expected) => {
        await fixture.putRow('a', maxId, 10);
        await fixture.putRow('b', 7n, 10);
        await store.raise('a', minimum);
        expect(await fixture.readMaxId('a')).toBe(expected);
        expect(await fixture.readMaxId('b')).toBe(7n);
      });

      it('keeps the highest of many at once', async () => {
        await fixture.putRow('a', 1n, 10);
        const minima = Array.from({ length: 20 }, (_, i) => BigInt(((i * 7) % 20) + 100));
        await Promise.all(minima.map((minimum, i) => (i % 2 === 0 ? store : second).raise('a', minimum)));
        expect(await fixture.readMaxId('a')).toBe(119n);
      });

      it('moves the next allocation', async () => {
        await fixture.putRow('a', 1n, 10);
        await store.raise('a', 1001n);
        expect(await second.allocate('a', undefined)).toEqual({ from: 1001n, to: 1010n, step: 10 });
      });

      it('creates no tag', async () => {
        await store.raise('none', 10n);
        expect(await store.findTag('none')).toBeUndefined();
      });
    });

    describe('recordDeleted', () => {
      it('keeps a row of this name above what the deleted one had given', async () => {
        await fixture.putDeleted('a', 5001n);
        await fixture.putRow('a', 1n, 10);
        await fixture.putRow('b', 1n, 10);
        expect(await second.allocate('a', undefined)).toEqual({ from: 5001n, to: 5010n, step: 10 });
        expect(await store.allocate('a', 7)).toEqual({ from: 5011n, to: 5017n, step: 10 });
        expect(await fixture.readMaxId('a')).toBe(5018n);
        expect(await store.allocate('b', 7)).toMatchObject({ from: 1n });
      });

      it.each([
        ['raises', 500n, 501n, 501n],
        ['leaves what is equal', 500n, 500n, 500n],
        ['never lowers', 500n, 499n, 500n],
        ['is exact above 2^53', 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 1n],
      ])('%s', async (_, first, then, expected) => {
        await fixture.putDeleted('a', first);
        await second.recordDeleted('a', then);
        await fixture.putRow('a', 1n, 10);
        expect(await store.allocate('a', undefined)).toMatchObject({ from: expected });
      });

      it('leaves a row that is above', async () => {
        await fixture.putDeleted('a', 500n);
        await fixture.putRow('a', 501n, 10);
        expect(await store.allocate('a', undefined)).toMatchObject({ from: 501n });
      });

      it('creates no tag, and moves none', async () => {
        await fixture.putRow('a', 7n, 10);
        await store.recordDeleted('a', 500n);
        await store.recordDeleted('none', 500n);
        expect(await store.findTag('none')).toBeUndefined();
        expect(await fixture.readMaxId('a')).toBe(7n);
      });

      it('takes nothing when the IDs above would not do', async () => {
        await fixture.putDeleted('a', MAX_ID - 5n);
        await fixture.putRow('a', 1n, 10);
        await expect(store.allocate('a', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
        await expect(store.allocate('a', 6)).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED', left: 5n });
        expect(await store.allocate('a', 5)).toMatchObject({ from: MAX_ID - 5n, to: MAX_ID - 1n });
      });
    });

    it('says where it is', () => {
      expect(store.description).not.toBe('');
    });
  });
}
