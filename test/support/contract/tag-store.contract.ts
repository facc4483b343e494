import {
  type LeafError,
  type LeafErrorCode,
  MAX_ID,
  type NewTag,
  PLAIN_TAG,
  type SegmentStore,
  type TagChange,
  type TagStore,
} from '@leaf-ids/core';
import { MAX_DESCRIPTION, MAX_STEP } from '@leaf-ids/core/internal';
import { REFUSED } from '../http/refusal';

export interface TagStoreFixture {
  readonly tags: TagStore;
  /** A second store with the same rows. */
  readonly segments: SegmentStore;
  /** Executes a statement that is valid in every dialect. */
  readonly execute: (sql: string) => Promise<unknown>;
  close(): Promise<void>;
}

/** Opens one before each test, and closes it after. */
export function openedForEach(open: () => Promise<TagStoreFixture>): Omit<TagStoreFixture, 'close'> {
  let fixture: TagStoreFixture;
  beforeEach(async () => (fixture = await open()));
  afterEach(() => fixture.close());
  return {
    get tags() {
      return fixture.tags;
    },
    get segments() {
      return fixture.segments;
    },
    execute: (sql) => fixture.execute(sql),
  };
}

export function tagStoreContract(name: string, open: () => Promise<TagStoreFixture>): void {
  describe(`${name} as TagStore`, () => {
    const fixture = openedForEach(open);

    it('creates a tag that gives IDs at once', async () => {
      const before = Date.now();
      const row = await fixture.tags.create({ tag: 'order', step: 100, description: 'orders of the shop' });
      expect(row).toMatchObject({ tag: 'order', maxId: 1n, step: 100, description: 'orders of the shop' });
      // The database uses its own clock with a resolution of one second.
      expect(Math.abs(row.updatedAt - before)).toBeLessThan(60_000);
      expect(await fixture.tags.find('order')).toEqual(row);
      expect(await fixture.segments.allocate('order', undefined)).toMatchObject({ from: 1n, to: 100n });
      expect((await fixture.tags.find('order'))?.maxId).toBe(101n);
    });

    it('lists tags by name', async () => {
      for (const tag of ['b', 'c', 'a']) await fixture.tags.create({ tag, step: 1 });
      expect((await fixture.tags.list()).map(({ tag }) => tag)).toEqual(['a', 'b', 'c']);
      expect((await fixture.tags.list({ limit: 2 })).map(({ tag }) => tag)).toEqual(['a', 'b']);
      expect((await fixture.tags.list({ after: 'a' })).map(({ tag }) => tag)).toEqual(['b', 'c']);
      expect((await fixture.tags.list({ after: 'aa', limit: 1 })).map(({ tag }) => tag)).toEqual(['b']);
      expect(await fixture.tags.find('d')).toBeUndefined();
    });

    it('is exact up to the end', async () => {
      for (const maxId of [2n ** 53n + 1n, MAX_ID]) {
        const tag = `t${maxId}`;
        expect(await fixture.tags.create({ tag, step: MAX_STEP, maxId })).toMatchObject({ maxId, step: MAX_STEP });
        expect(await fixture.tags.find(tag)).toMatchObject({ maxId });
      }
    });

    it.each([
      [{ tag: 'a b', step: 1 }, 'LEAF_TAG_INVALID'],
      [{ tag: '', step: 1 }, 'LEAF_TAG_INVALID'],
      [{ tag: 'a', step: 0 }, 'LEAF_BODY_INVALID'],
      [{ tag: 'a', step: 1.5 }, 'LEAF_BODY_INVALID'],
      [{ tag: 'a', step: NaN }, 'LEAF_BODY_INVALID'],
      [{ tag: 'a', step: MAX_STEP + 1 }, 'LEAF_BODY_INVALID'],
      [{ tag: 'a', step: 1, maxId: 0n }, 'LEAF_BODY_INVALID'],
      [{ tag: 'a', step: 1, maxId: MAX_ID + 1n }, 'LEAF_BODY_INVALID'],
      [{ tag: 'a', step: 1, description: 'x'.repeat(MAX_DESCRIPTION + 1) }, 'LEAF_BODY_INVALID'],
    ] satisfies [NewTag, LeafErrorCode][])('refuses %p', async (tag, code) => {
      await expect(fixture.tags.create(tag)).rejects.toEqual(REFUSED(code));
      expect(await fixture.tags.list()).toStrictEqual([]);
    });

    it('keeps the settings of a tag', async () => {
      const plain = { ...PLAIN_TAG, maxStep: undefined, max: undefined };
      expect(await fixture.tags.create({ tag: 'plain', step: 10 })).toMatchObject(plain);
      const limits = { maxStep: 20, max: MAX_ID - 1n };
      const reset = { reset: 'monthly', zone: 'Europe/Berlin' } as const;
      const strict = await fixture.tags.create({ tag: 'strict', step: 10, ...limits, order: 'strict', ...reset });
      expect(strict).toMatchObject({ ...limits, order: 'strict', ...reset });
      expect(await fixture.tags.create({ tag: 'utc', step: 10, reset: 'daily' })).toMatchObject({ zone: 'UTC' });
      const { after } = await fixture.tags.change('strict', { maxStep: null, max: null });
      expect(after).toEqual({ ...strict, maxStep: undefined, max: undefined, updatedAt: after.updatedAt });
      expect((await fixture.segments.listTags()).find(({ tag }) => tag === 'utc')).toMatchObject({
        kind: { order: 'relaxed', reset: 'daily', zone: 'UTC' },
      });
    });

    it('gives no ID beyond the last one of the tag', async () => {
      await fixture.tags.create({ tag: 'a', step: 10, maxStep: 10, max: 15n });
      expect(await fixture.segments.allocate('a', undefined)).toMatchObject({ from: 1n, to: 10n, maxStep: 10 });
      await expect(fixture.segments.allocate('a', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
      expect(await fixture.segments.allocate('a', 5)).toMatchObject({ from: 11n, to: 15n });
      await expect(fixture.segments.allocate('a', 1)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
      await fixture.tags.change('a', { max: 16n });
      expect(await fixture.segments.allocate('a', 1)).toMatchObject({ from: 16n });
    });

    it('refuses a largest step below the step', async () => {
      await fixture.tags.create({ tag: 'a', step: 10, maxStep: 20 });
      await expect(fixture.tags.change('a', { step: 21 })).rejects.toEqual(REFUSED('LEAF_BODY_INVALID'));
      await expect(fixture.tags.change('a', { maxStep: 9 })).rejects.toEqual(REFUSED('LEAF_BODY_INVALID'));
      await expect(fixture.tags.create({ tag: 'b', step: 10, maxStep: 9 })).rejects.toEqual(
        REFUSED('LEAF_BODY_INVALID'),
      );
    });

    it('takes a description as it is', async () => {
      const description = `'; DROP TABLE leaf_alloc; -- "\\ é 漢 ${'😀'.repeat(MAX_DESCRIPTION - 40)}`;
      expect((await fixture.tags.create({ tag: 'a', step: 1, description })).description).toBe(description);
      expect((await fixture.tags.change('a', { description: '' })).after.description).toBeUndefined();
    });

    it('creates one of two of a name', async () => {
      const results = await Promise.allSettled(
        [1, 2, 3, 4].map((step) => fixture.tags.create({ tag: 'a', step, maxId: BigInt(step) })),
      );
      const created = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(created).toHaveLength(1);
      expect(await fixture.tags.list()).toEqual(created);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toEqual(REFUSED('LEAF_TAG_EXISTS'));
      }
      await expect(fixture.tags.create({ tag: 'a', step: 1 })).rejects.toEqual(REFUSED('LEAF_TAG_EXISTS'));
    });

    it('changes what is named and leaves the rest', async () => {
      await fixture.tags.create({ tag: 'a', step: 10, description: 'first' });
      await fixture.tags.create({ tag: 'b', step: 10, description: 'other' });
      const untouched = await fixture.tags.find('b');
      const { before, after } = await fixture.tags.change('a', { step: 20 });
      expect(before).toMatchObject({ tag: 'a', maxId: 1n, step: 10, description: 'first' });
      expect(after).toMatchObject({ tag: 'a', maxId: 1n, step: 20, description: 'first' });
      expect((await fixture.tags.change('a', { description: 'second', maxId: 500n })).after).toMatchObject({
        maxId: 500n,
        step: 20,
        description: 'second',
      });
      expect((await fixture.tags.change('a', {})).after).toEqual(await fixture.tags.find('a'));
      expect(await fixture.segments.allocate('a', undefined)).toMatchObject({ from: 500n, to: 519n });
      expect(await fixture.tags.find('b')).toEqual(untouched);
    });

    it('lets max_id rise only', async () => {
      await fixture.tags.create({ tag: 'a', step: 10, maxId: 100n });
      await expect(fixture.tags.change('a', { maxId: 99n, step: 5 })).rejects.toEqual(REFUSED('LEAF_MAX_ID_BACKWARDS'));
      expect(await fixture.tags.find('a')).toMatchObject({ maxId: 100n, step: 10 });
      expect((await fixture.tags.change('a', { maxId: 100n })).after).toMatchObject({ maxId: 100n });
    });

    it('raises max_id beside allocations without handing out anything twice', async () => {
      await fixture.tags.create({ tag: 'a', step: 10 });
      const work = Array.from({ length: 20 }, async (_, n) => {
        if (n % 4 !== 0) return fixture.segments.allocate('a', undefined);
        await fixture.tags.change('a', { maxId: BigInt(1000 * (n + 1)) }).catch((error: unknown) => {
          expect(error).toEqual(REFUSED('LEAF_MAX_ID_BACKWARDS'));
        });
        return undefined;
      });
      const ranges = (await Promise.all(work)).filter((range) => range !== undefined);
      expect(new Set(ranges.map(({ from }) => from)).size).toBe(ranges.length);
    });

    it.each<TagChange>([{ step: 0 }, { step: MAX_STEP + 1 }, { maxId: -1n }, { description: 'x'.repeat(257) }])(
      'refuses the change %p',
      async (change) => {
        await fixture.tags.create({ tag: 'a', step: 10 });
        await expect(fixture.tags.change('a', change)).rejects.toEqual(REFUSED('LEAF_BODY_INVALID'));
        expect(await fixture.tags.find('a')).toMatchObject({ maxId: 1n, step: 10 });
      },
    );

    it('mends a bad row', async () => {
      await fixture.tags.create({ tag: 'a', step: 10 });
      await fixture.execute("UPDATE leaf_alloc SET step = 0, max_id = -5 WHERE biz_tag = 'a'");
      expect(await fixture.tags.find('a')).toMatchObject({ step: 0, maxId: -5n });
      expect((await fixture.tags.change('a', { step: 1, maxId: 1n })).after).toMatchObject({ step: 1, maxId: 1n });
    });

    it.each(['Order', 'order ', 'orders', "order' OR 'a'='a"])('does not take %j for "order"', async (other) => {
      await fixture.tags.create({ tag: 'order', step: 10 });
      expect(await fixture.tags.find(other)).toBeUndefined();
      await expect(fixture.tags.change(other, { step: 5 })).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      await expect(fixture.tags.remove(other)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      expect(await fixture.tags.find('order')).toMatchObject({ step: 10 });
    });

    it('deletes one tag', async () => {
      await fixture.tags.create({ tag: 'a', step: 10 });
      await fixture.tags.create({ tag: 'b', step: 10 });
      expect(await fixture.tags.remove('a')).toMatchObject({ tag: 'a', maxId: 1n });
      expect((await fixture.tags.list()).map(({ tag }) => tag)).toEqual(['b']);
      await expect(fixture.tags.remove('a')).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
      await expect(fixture.segments.allocate('a', undefined)).rejects.toEqual(REFUSED('LEAF_TAG_NOT_FOUND'));
    });

    it('gives no ID twice when a tag is deleted beside allocations and inserted again at 1', async () => {
      await fixture.tags.create({ tag: 'a', step: 10 });
      const starts: bigint[] = [];
      for (let round = 0; round < 10; round++) {
        const allocations = Array.from({ length: 8 }, () =>
          fixture.segments.allocate('a', undefined).then(
            ({ from }) => void starts.push(from),
            (error: unknown) => expect(error).toEqual(REFUSED('LEAF_TAG_NOT_FOUND')),
          ),
        );
        await Promise.all([...allocations, fixture.tags.remove('a')]);
        // Several databases each carry out the INSERT.
        await fixture.execute('DELETE FROM leaf_alloc');
        await fixture.execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('a', 1, 10)");
      }
      starts.push((await fixture.segments.allocate('a', undefined)).from);
      expect(new Set(starts).size).toBe(starts.length);
    });

    it('refuses a strict tag of a name that was deleted', async () => {
      await fixture.tags.create({ tag: 'a', step: 10 });
      await fixture.tags.remove('a');
      await expect(fixture.tags.create({ tag: 'a', step: 10, order: 'strict' })).rejects.toEqual(
        REFUSED('LEAF_TAG_EXISTS'),
      );
      expect(await fixture.tags.find('a')).toBeUndefined();
    });

    it('goes on where a deleted tag of the name had come to', async () => {
      await fixture.tags.create({ tag: 'a', step: 10 });
      await fixture.segments.allocate('a', 41);
      await fixture.tags.remove('a');
      await expect(fixture.tags.create({ tag: 'a', step: 10, maxId: 41n })).rejects.toEqual(
        REFUSED('LEAF_MAX_ID_BACKWARDS'),
      );
      expect(await fixture.tags.create({ tag: 'a', step: 10 })).toMatchObject({ maxId: 42n });
      await fixture.tags.remove('a');
      expect(await fixture.tags.create({ tag: 'a', step: 10, maxId: 5000n })).toMatchObject({ maxId: 5000n });
      await fixture.tags.remove('a');
      expect(await fixture.tags.create({ tag: 'a', step: 10 })).toMatchObject({ maxId: 5000n });
      await fixture.tags.remove('a');
      await fixture.execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('a', 1, 10)");
      expect(await fixture.segments.allocate('a', undefined)).toMatchObject({ from: 5000n, to: 5009n });
      const other = await fixture.tags.create({ tag: 'A', step: 10 }).catch((error: unknown) => error as LeafError);
      expect(['LEAF_TAG_EXISTS', 1n]).toContain('maxId' in other ? other.maxId : other.code);
    });
  });
}
