import { IdService, LeafError, MAX_ID, type IdRange, type LeafErrorCode } from '@leaf-ids/core';
import { until } from '../until';

export interface IdServiceRig {
  readonly ids: IdService;
  readonly stop: () => Promise<void>;
}

/** The tag of each fixture. */
export const CONTRACT_TAG = 'leaf-segment-test';

function refusedWith(code: LeafErrorCode): unknown {
  return expect.objectContaining({ name: 'LeafError', code });
}

function expand(ranges: readonly IdRange[]): bigint[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: Number(to - from) + 1 }, (_, i) => from + BigInt(i)));
}

function expectAscending(ids: readonly bigint[]): void {
  expect(ids.filter((id, index) => index > 0 && id <= ids[index - 1]!)).toStrictEqual([]);
}

/** Contract of every `IdService`. */
export function idServiceContract(name: string, start: () => Promise<IdServiceRig>): void {
  describe(`IdService, ${name}`, () => {
    let rig: IdServiceRig;
    let ids: IdService;

    beforeAll(async () => {
      rig = await start();
      ({ ids } = rig);
    });
    afterAll(() => rig.stop());

    it('gives IDs of a tag one by one, ascending, from 1 to 2^63 - 1', async () => {
      const taken: bigint[] = [];
      for (let i = 0; i < 500; i++) taken.push(await ids.nextId(CONTRACT_TAG));
      expectAscending(taken);
      expect(taken[0]).toBeGreaterThanOrEqual(1n);
      expect(taken.at(-1)).toBeLessThanOrEqual(MAX_ID);
    });

    it('gives many callers at once an ID each', async () => {
      const singles = Array.from({ length: 3000 }, () => ids.nextId(CONTRACT_TAG));
      const batches = Array.from({ length: 20 }, () => ids.nextIds(CONTRACT_TAG, 70));
      const ranges = Array.from({ length: 20 }, () => ids.nextRanges(CONTRACT_TAG, 333));
      const all = [
        ...(await Promise.all(singles)),
        ...(await Promise.all(batches)).flat(),
        ...(await Promise.all(ranges)).flatMap(expand),
      ];
      expect(all).toHaveLength(3000 + 20 * 70 + 20 * 333);
      expect(new Set(all).size).toBe(all.length);
    });

    it('gives exactly as many as it is asked for, ascending', async () => {
      for (const count of [1, 2, 99, 5000, 10_000]) {
        const batch = await ids.nextIds(CONTRACT_TAG, count);
        expect(batch).toHaveLength(count);
        expectAscending(batch);
        const ranges = await ids.nextRanges(CONTRACT_TAG, count);
        expect(expand(ranges)).toHaveLength(count);
        expectAscending(expand(ranges));
        expect(ranges[0]!.from).toBeGreaterThan(batch.at(-1)!);
      }
    });

    it('gives a million in one call', async () => {
      const ranges = await ids.nextRanges(CONTRACT_TAG, 1_000_000);
      expect(ranges.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0)).toBe(1_000_000);
      const last = ranges.at(-1)!.to;
      expect(await ids.nextId(CONTRACT_TAG)).toBeGreaterThan(last);
    });

    it('gives an ID without waiting, or none', async () => {
      const before = await ids.nextId(CONTRACT_TAG);
      const id = await until('a buffered ID', () => ids.tryNext(CONTRACT_TAG));
      expect(id).toBeGreaterThan(before);
      expect(ids.tryNext('never-seen')).toBeUndefined();
      expect(ids.tryNext('no tag at all')).toBeUndefined();
    });

    it('gives numbers of the same sequence', async () => {
      const before = await ids.nextId(CONTRACT_TAG);
      const first = await ids.nextNumber(CONTRACT_TAG);
      const batch = await ids.nextNumbers(CONTRACT_TAG, 2500);
      expect(batch).toHaveLength(2500);
      const number = await until('number at hand', () => ids.tryNextNumber(CONTRACT_TAG));
      const after = await ids.nextId(CONTRACT_TAG);
      expectAscending([before, ...[first, ...batch, number].map(BigInt), after]);
    });

    it('refuses numbers of tags and sizes that it refuses IDs of', async () => {
      await expect(ids.nextNumber('a b')).rejects.toEqual(refusedWith('LEAF_TAG_INVALID'));
      await expect(ids.nextNumber('unknown')).rejects.toEqual(refusedWith('LEAF_TAG_NOT_FOUND'));
      await expect(ids.nextNumbers('unknown', 5)).rejects.toEqual(refusedWith('LEAF_TAG_NOT_FOUND'));
      await expect(ids.nextNumbers(CONTRACT_TAG, 10_001)).rejects.toEqual(refusedWith('LEAF_SIZE_INVALID'));
      expect(ids.tryNextNumber('never-seen')).toBeUndefined();
    });

    it('writes IDs in decimal', async () => {
      const text = await ids.nextIdString(CONTRACT_TAG);
      expect(String(BigInt(text))).toBe(text);
      expect(await ids.nextId(CONTRACT_TAG)).toBeGreaterThan(BigInt(text));
    });

    it('refuses tags that cannot be, and that there are not', async () => {
      await expect(ids.nextId('a b')).rejects.toEqual(refusedWith('LEAF_TAG_INVALID'));
      await expect(ids.nextIdString('')).rejects.toEqual(refusedWith('LEAF_TAG_INVALID'));
      await expect(ids.nextRanges('ä', 5)).rejects.toEqual(refusedWith('LEAF_TAG_INVALID'));
      await expect(ids.nextId('unknown')).rejects.toEqual(refusedWith('LEAF_TAG_NOT_FOUND'));
      await expect(ids.nextIds('unknown', 5)).rejects.toEqual(refusedWith('LEAF_TAG_NOT_FOUND'));
    });

    it.each([0, -1, 1.5, NaN, Infinity, 10_001])('refuses %d as the size of a batch', async (count) => {
      const code = refusedWith('LEAF_SIZE_INVALID');
      await expect(ids.nextIds(CONTRACT_TAG, count)).rejects.toEqual(code);
      await expect(ids.snowflakes(count)).rejects.toEqual(code);
      await expect(ids.snowflakeStrings(count)).rejects.toEqual(code);
    });

    it.each([0, -1, 1.5, NaN, 1_000_001])('refuses %d as the size of a range', async (count) => {
      await expect(ids.nextRanges(CONTRACT_TAG, count)).rejects.toEqual(refusedWith('LEAF_SIZE_INVALID'));
    });

    it('gives snowflake IDs, singly and in batches, in order', async () => {
      const taken: bigint[] = [...(await ids.snowflakes(1))];
      for (const count of [2, 500, 10_000]) {
        const batch = await ids.snowflakes(count);
        expect(batch).toHaveLength(count);
        taken.push(...batch);
        taken.push(...(await ids.snowflakeStrings(count)).map(BigInt));
        const one = await until('a buffered ID', () => ids.trySnowflakeString());
        taken.push(BigInt(one), await until('a buffered ID', () => ids.trySnowflake()));
      }
      expectAscending(taken);
    });

    it('gives a snowflake ID at once when one is at hand, and else says to come back', async () => {
      const [first, second] = await until('two IDs at hand', () => {
        try {
          return [ids.snowflake(), ids.snowflakeString()] as const;
        } catch (error) {
          if (error instanceof LeafError && error.retryable) return undefined;
          throw error;
        }
      });
      expect(BigInt(second)).toBeGreaterThan(first);
      expect(String(BigInt(second))).toBe(second);
    });

    it('gives many callers at once a snowflake ID each', async () => {
      const batches = await Promise.all(Array.from({ length: 40 }, (_, index) => ids.snowflakes(100 + index)));
      const all = batches.flat();
      expect(new Set(all).size).toBe(all.length);
      for (const batch of batches) expectAscending(batch);
    });

    it('reads its own IDs, and refuses what is none', async () => {
      const before = Date.now();
      const [id] = await ids.snowflakes(1);
      const { timestamp, workerId } = ids.decode(id!);
      // Prefetched IDs are up to a minute old.
      expect(Math.abs(timestamp - before)).toBeLessThan(90_000);
      expect(workerId).toBe(0);
      expect(() => ids.decode(-1n)).toThrow(refusedWith('LEAF_ID_INVALID') as Error);
      expect(() => ids.decode(2n ** 63n)).toThrow(refusedWith('LEAF_ID_INVALID') as Error);
    });
  });
}
