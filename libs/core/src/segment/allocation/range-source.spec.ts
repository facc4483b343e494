import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import { LeafError } from '../../errors/leaf-error';
import { MAX_ID } from '../tags/id-range';
import { RangeSource } from './range-source';
import { SegmentStore, type Allocation, type TagEntry } from '../tags/segment-store';
import { PLAIN_TAG } from '../tags/tag-settings';

const T = 900_000;

/** A store that returns invalid ranges. */
class WildStore extends SegmentStore {
  readonly description = 'wild';
  readonly raised: bigint[] = [];
  /** Sizes of the allocations. */
  readonly sizes: (number | undefined)[] = [];

  constructor(private readonly answers: Allocation[]) {
    super();
  }

  listTags(): Promise<TagEntry[]> {
    return Promise.resolve([{ tag: TAG, kind: PLAIN_TAG }]);
  }

  findTag(tag: string): Promise<TagEntry | undefined> {
    return Promise.resolve({ tag, kind: PLAIN_TAG });
  }

  allocate(_tag: string, size: number | undefined): Promise<Allocation> {
    this.sizes.push(size);
    return Promise.resolve(this.answers.shift()!);
  }

  giveBack(): Promise<boolean> {
    return Promise.resolve(true);
  }

  beginPeriod(): Promise<void> {
    return Promise.resolve();
  }

  recordDeleted(): Promise<void> {
    return Promise.resolve();
  }

  raise(_tag: string, minimum: bigint): Promise<void> {
    this.raised.push(minimum);
    return Promise.resolve();
  }
}

function sourceOf(rig: SegmentRig): RangeSource {
  return new RangeSource(TAG, rig.context);
}

function wild(...answers: Allocation[]): { source: RangeSource; store: WildStore; rig: SegmentRig } {
  const store = new WildStore(answers);
  const rig = new SegmentRig();
  return { source: new RangeSource(TAG, { ...rig.context, store }), store, rig };
}

describe('RangeSource', () => {
  it.each([
    ['from 0', 0n, 9n, 10],
    ['a negative range', -10n, -1n, 10],
    ['an upside-down range', 10n, 9n, 10],
    ['step 0', 1n, 10n, 0],
    ['a negative step', 1n, 10n, -1],
    ['a range beyond 2^63 - 1', MAX_ID - 1n, MAX_ID + 1n, 10],
  ])('refuses %s', async (_, from, to, step) => {
    const { source, store } = wild({ from, to, step }, { from: 1n, to: 10n, step: 10 });
    await expect(source.load()).rejects.toMatchObject({
      code: 'LEAF_TAG_ROW_INVALID',
      message: expect.stringContaining(`"${TAG}" in leaf_alloc allocated the IDs ${from} to ${to} with step ${step}.`),
    });
    expect(store.raised).toStrictEqual([]);
    await expect(source.load()).resolves.toEqual([{ from: 1n, to: 10n }]);
  });

  it('accepts no block of an interleaved tag twice, whichever of an allocation it was', async () => {
    const more = [{ from: 21n, to: 30n }];
    const block = { from: 1n, to: 10n, step: 10 };
    const { source, store } = wild({ ...block, more }, { ...block, ...more[0], more: [] });
    await expect(source.load()).resolves.toEqual([{ from: 1n, to: 10n }, ...more]);
    await expect(source.load()).rejects.toMatchObject({ code: 'LEAF_STORE_BACKWARDS' });
    expect(store.raised).toEqual([31n]);
  });

  it('accepts the last possible range', async () => {
    const { source } = wild({ from: MAX_ID, to: MAX_ID, step: 1 });
    await expect(source.load()).resolves.toEqual([{ from: MAX_ID, to: MAX_ID }]);
  });

  it('the first two loads use the step of the row', async () => {
    const source = sourceOf(new SegmentRig(2000));
    await expect(source.load()).resolves.toEqual([{ from: 1n, to: 2000n }]);
    await expect(source.load()).resolves.toEqual([{ from: 2001n, to: 4000n }]);
    await expect(source.load()).resolves.toEqual([{ from: 4001n, to: 8000n }]);
  });

  it.each([
    [undefined, 4000],
    [3000, 3000],
    [5000, 4000],
  ])('raises the step no higher than the maximum of the row, which is %p', async (maxStep, size) => {
    const loads = [1n, 2001n, 4001n].map((from) => ({ from, to: from + 1999n, step: 2000, maxStep }));
    const { source, store } = wild(...loads);
    for (let load = 0; load < loads.length; load++) await source.load();
    expect(store.sizes).toEqual([undefined, undefined, size]);
  });

  it('raises the step no higher than the maximum of the server', async () => {
    const source = sourceOf(new SegmentRig(2000, { maxStep: 2500 }));
    for (let load = 0; load < 3; load++) await source.load();
    expect(source.size).toBe(2500);
  });

  it('loads more than its step only for calls that need more, and a burst does not raise the step', async () => {
    const rig = new SegmentRig(10);
    const source = sourceOf(rig);
    // Before the first load, the step of the row is not known.
    await expect(source.load(5)).resolves.toEqual([{ from: 1n, to: 10n }]);
    await expect(source.load(10)).resolves.toEqual([{ from: 11n, to: 20n }]);
    await expect(source.load(25)).resolves.toEqual([{ from: 21n, to: 45n }]);
    expect(source.size).toBe(20);
    await expect(source.load(40)).resolves.toEqual([{ from: 46n, to: 85n }]);
    expect(source.size).toBe(40);
    expect(rig.store.granted.map(({ exact }) => exact)).toEqual([false, false, true, true]);
  });

  it('takes a row with the default step for one of them before its first load', async () => {
    const { store, context } = new SegmentRig(10);
    await expect(new RangeSource(TAG, context).load(2000)).resolves.toEqual([{ from: 1n, to: 10n }]);
    const source = new RangeSource(TAG, context);
    await expect(source.load(2001)).resolves.toEqual([{ from: 11n, to: 2011n }]);
    expect([source.size, store.count('allocate')]).toEqual([10, 2]);
  });

  it('loads one block of an interleaved tag, or as many as calls need', async () => {
    const rig = new SegmentRig();
    rig.store.put(TAG, 1n, 1000, { ...PLAIN_TAG, interleave: { of: 2, remainder: 0, block: 100 } });
    const source = sourceOf(rig);
    const loads: [number, bigint[]][] = [
      [0, [1n]],
      [0, [201n]],
      [0, [401n]],
      [100, [601n]],
      [150, [801n, 1001n]],
    ];
    for (const [wanted, blocks] of loads) {
      expect(await source.load(wanted)).toEqual(blocks.map((from) => ({ from, to: from + 99n })));
      expect(source.size).toBe(100);
    }
  });

  it('knows how many IDs are more blocks than a call may take, once it knows their size', async () => {
    const rig = new SegmentRig();
    const plain = sourceOf(rig);
    await plain.load();
    expect(plain.exceedsBlocks(1_000_000)).toBe(false);
    rig.store.put(TAG, 1n, 1000, { ...PLAIN_TAG, interleave: { of: 2, remainder: 0, block: 5 } });
    const source = sourceOf(rig);
    expect(source.exceedsBlocks(5001)).toBe(false);
    await source.load();
    expect([5000, 5001].map((count) => source.exceedsBlocks(count))).toEqual([false, true]);
  });

  it.each([
    ['fewer IDs left than its dynamic step', {}, [1, 1, 2, 3, 2]],
    ['fewer IDs left than its fixed step', { maxStep: 10 }, [1, 1, 1, 2, 1]],
  ])('takes the last IDs of a tag that has %s, in few calls', async (_, options, calls) => {
    const rig = new SegmentRig(10, options);
    rig.store.put(TAG, MAX_ID - 31n, 10);
    const source = sourceOf(rig);
    const sizes: bigint[] = [];
    const counts: number[] = [];
    for (let load = 0; load < 5; load++) {
      const before = rig.store.count('allocate');
      const ranges = await source.load().catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
        return [];
      });
      for (const { from, to } of ranges) sizes.push(to - from + 1n);
      counts.push(rig.store.count('allocate') - before);
    }
    expect([sizes, counts]).toEqual([[10n, 10n, 10n, 1n], calls]);
    expect(rig.store.maxId(TAG)).toBe(MAX_ID);
  });

  it('gives up on a used up tag whose store does not know how many IDs are left', async () => {
    const rig = new SegmentRig(10);
    rig.store.failNext(1, new LeafError('LEAF_TAG_EXHAUSTED', 'No.'));
    await expect(sourceOf(rig).load()).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('counts each load and each failure as a try, and only what follows a failure as a retry', async () => {
    const rig = new SegmentRig();
    const source = sourceOf(rig);
    const tries = [source.tries];
    for (const fails of [false, true, true, false, false]) {
      if (fails) rig.store.failNext(1);
      await source.load().catch(() => undefined);
      tries.push(source.tries);
    }
    expect(tries).toEqual([0, 1, 2, 3, 4, 5]);
    expect([source.snapshot().retries, rig.totals.retries]).toEqual([2, 2]);
  });

  it('keeps the highest ID when a lower range of an overlapping allocation comes later', async () => {
    const source = sourceOf(new SegmentRig());
    for (const from of [11n, 1n]) {
      await source.accept(0, Promise.resolve({ from, to: from + 9n, step: 10 }), () => true);
      expect(source.highest).toBe(20n);
    }
  });

  it('counts the losses that the store has mended itself', async () => {
    const { source, rig } = wild(
      { from: 1n, to: 10n, step: 10, wentBack: false },
      { from: 91n, to: 100n, step: 10, wentBack: true },
    );
    await source.load();
    expect(source.snapshot().backwards).toBe(0);
    await expect(source.load()).resolves.toEqual([{ from: 91n, to: 100n }]);
    expect([source.snapshot().backwards, rig.totals.backwards]).toEqual([1, 1]);
  });

  it('measures from load to load', async () => {
    const rig = new SegmentRig(2000);
    const source = sourceOf(rig);
    const steps: number[] = [];
    for (const pause of [0, 5 * T, 1, T, 2 * T - 1, 2 * T, 2 * T, 2 * T]) {
      await rig.clock.advance(pause);
      await source.load();
      steps.push(source.snapshot().step);
    }
    expect(steps).toEqual([2000, 2000, 4000, 4000, 4000, 2000, 2000, 2000]);
  });

  it('measures from the start of a load, not from its end', async () => {
    const rig = new SegmentRig(2000);
    const source = sourceOf(rig);
    await source.load();
    rig.store.hold();
    const slow = watch(source.load());
    await rig.clock.advance(T);
    rig.store.release();
    await rig.settle();
    expect(slow.settled).toBe(true);
    expect(source.snapshot().lastLoadMs).toBe(T);
    await source.load();
    expect(source.snapshot().step).toBe(2000);
  });

  it('a failed load does not count', async () => {
    const rig = new SegmentRig(2000);
    const source = sourceOf(rig);
    await source.load();
    rig.store.failNext(1);
    await rig.clock.advance(T);
    await expect(source.load()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(source.snapshot()).toMatchObject({ loads: 1, failures: 1 });
    await expect(source.load()).resolves.toEqual([{ from: 2001n, to: 4000n }]);
    await expect(source.load()).resolves.toEqual([{ from: 4001n, to: 8000n }]);
  });

  it('an exact allocation does not count as a load or change the dynamic step', async () => {
    const source = sourceOf(new SegmentRig(2000));
    await source.load();
    await expect(source.allocate(7)).resolves.toEqual([{ from: 2001n, to: 2007n }]);
    await source.load();
    expect(source.snapshot()).toMatchObject({ step: 2000, loads: 2 });
    await source.allocate(50_000);
    await source.load();
    expect(source.snapshot()).toMatchObject({ step: 4000, loads: 3 });
  });

  it('a step raised in the database counts at the next load', async () => {
    const rig = new SegmentRig(2000);
    const source = sourceOf(rig);
    await source.load();
    await source.load();
    rig.store.put(TAG, 4001n, 30_000);
    await source.load();
    expect(source.snapshot()).toMatchObject({ step: 4000, databaseStep: 30_000 });
    await rig.clock.advance(T);
    await source.load();
    expect(source.snapshot().step).toBe(30_000);
  });

  it('refuses a store that went backwards and moves its row forward', async () => {
    const rig = new SegmentRig(10);
    const source = sourceOf(rig);
    for (let i = 0; i < 3; i++) await source.load();
    const highest = rig.store.maxId(TAG)! - 1n;
    rig.store.put(TAG, 1n, 10);
    await expect(source.load()).rejects.toMatchObject({
      code: 'LEAF_STORE_BACKWARDS',
      retryAfterMs: 1000,
      message: expect.stringContaining(`returned ID 1 for tag "${TAG}", but IDs up to ${highest} are already taken`),
    });
    expect(source.snapshot()).toMatchObject({ failures: 1, backwards: 1 });
    expect(rig.totals).toMatchObject({ failures: 1, backwards: 1 });
    expect(rig.store.maxId(TAG)).toBe(highest + 1n);
    await expect(source.load()).resolves.toMatchObject([{ from: highest + 1n }]);
  });

  it.each([
    ['ends at the newest ID', 10n, 10n],
    ['begins at the newest ID', 10n, 19n],
    ['lies across it', 5n, 14n],
  ])('refuses a range that %s', async (_, from, to) => {
    const { source, store } = wild({ from: 1n, to: 10n, step: 10 }, { from, to, step: 10 });
    await source.load();
    await expect(source.allocate(undefined)).rejects.toMatchObject({ code: 'LEAF_STORE_BACKWARDS' });
    expect(store.raised).toEqual([11n]);
  });

  it('exact allocations must also be above all earlier ranges', async () => {
    const rig = new SegmentRig(10);
    const source = sourceOf(rig);
    await source.allocate(25);
    rig.store.put(TAG, 1n, 10);
    await expect(source.load()).rejects.toMatchObject({ code: 'LEAF_STORE_BACKWARDS' });
    await expect(source.load()).resolves.toEqual([{ from: 26n, to: 35n }]);
    rig.store.put(TAG, 30n, 10);
    await expect(source.allocate(3)).rejects.toMatchObject({ code: 'LEAF_STORE_BACKWARDS' });
    await expect(source.allocate(3)).resolves.toEqual([{ from: 36n, to: 38n }]);
  });

  it('refuses again when the repair failed', async () => {
    const rig = new SegmentRig(10);
    const source = sourceOf(rig);
    await source.load();
    rig.store.put(TAG, 1n, 10);
    rig.store.hold();
    const load = watch(source.load());
    rig.store.held[0]!.answer();
    await rig.settle();
    expect(rig.store.held[0]!.method).toBe('raise');
    rig.store.held[0]!.fail();
    await rig.settle();
    expect(load.code).toBe('LEAF_STORE_UNAVAILABLE');
    rig.store.release();
    rig.store.put(TAG, 1n, 10);
    await expect(source.load()).rejects.toMatchObject({ code: 'LEAF_STORE_BACKWARDS' });
    await expect(source.load()).resolves.toEqual([{ from: 11n, to: 20n }]);
  });

  it('reports when failures begin and at each hundredth after that', async () => {
    const rig = new SegmentRig();
    const source = sourceOf(rig);
    const reportsAfter = async (failures: number): Promise<number> => {
      for (let i = 0; i < failures; i++) await expect(source.load()).rejects.toBeDefined();
      return rig.reports.length;
    };
    rig.store.breakDown();
    await expect(reportsAfter(1)).resolves.toBe(1);
    await expect(reportsAfter(98)).resolves.toBe(1);
    await expect(reportsAfter(2)).resolves.toBe(2);
    await expect(reportsAfter(100)).resolves.toBe(3);
    rig.store.heal();
    await source.load();
    rig.store.breakDown();
    await expect(reportsAfter(1)).resolves.toBe(4);
    expect(rig.reports).toEqual([TAG, TAG, TAG, TAG]);
  });

  it('returns a snapshot', async () => {
    const rig = new SegmentRig(2000);
    const source = sourceOf(rig);
    expect(source.snapshot()).toEqual({
      step: 0,
      databaseStep: 0,
      loads: 0,
      failures: 0,
      retries: 0,
      backwards: 0,
      lastLoadMs: undefined,
      lastLoadAt: undefined,
      lastError: undefined,
    });
    expect(source.failure).toBeUndefined();
    rig.store.failNext(1, new Error('plain'));
    await expect(source.load()).rejects.toThrow('plain');
    expect(source.snapshot()).toMatchObject({ loads: 0, failures: 1, retries: 0, lastError: 'plain' });
    await rig.clock.advance(1000);
    expect(source.failure).toBeInstanceOf(Error);
    rig.store.hold();
    const load = source.load();
    await rig.clock.advance(30);
    rig.store.release();
    await load;
    expect(source.failure).toBeUndefined();
    expect(source.snapshot()).toEqual({
      step: 2000,
      databaseStep: 2000,
      loads: 1,
      failures: 1,
      retries: 1,
      backwards: 0,
      lastLoadMs: 30,
      lastLoadAt: rig.clock.now(),
      lastError: undefined,
    });
    expect(rig.totals).toMatchObject({ loads: 1, failures: 1, retries: 1, backwards: 0 });
    expect(rig.totals.times.snapshot()).toMatchObject({
      buckets: expect.arrayContaining([
        { bound: 20, count: 0 },
        { bound: 50, count: 1 },
      ]),
      count: 1,
      sum: 30,
    });
  });
});
