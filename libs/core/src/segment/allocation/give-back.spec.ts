import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import { giveBackAll } from './give-back';

const range = (from: bigint, to: bigint) => ({ from, to });

describe('giveBackAll', () => {
  it('returns the ranges of each tag, newest first, up to the first that the store does not take', async () => {
    const { store } = new SegmentRig();
    store.put(TAG, 31n, 10);
    store.put('other', 101n, 10);
    const returned = await giveBackAll(store, [
      { tag: TAG, ranges: Promise.resolve([range(21n, 30n), range(11n, 19n), range(1n, 5n)]) },
      { tag: 'other', ranges: Promise.resolve([range(100n, 100n), range(95n, 99n)]) },
      { tag: 'unused', ranges: Promise.resolve([]) },
    ]);
    expect(returned).toBe(10 + 6);
    expect([store.maxId(TAG), store.maxId('other')]).toEqual([21n, 95n]);
    expect(store.count('giveBack')).toBe(4);
  });

  it('calls the store for eight tags at a time', async () => {
    const { store } = new SegmentRig();
    store.hold();
    const rests = Array.from({ length: 9 }, (_, n) => ({ tag: `${n}`, ranges: Promise.resolve([range(1n, 1n)]) }));
    const done = watch(giveBackAll(store, rests));
    await new Promise(setImmediate);
    expect(store.held).toHaveLength(8);
    store.release();
    await new Promise(setImmediate);
    expect(done.value).toBe(0);
  });

  it('waits for all allocations in progress before it fails', async () => {
    const { store } = new SegmentRig();
    store.breakDown();
    let end = (): void => undefined;
    const late = new Promise<[]>((resolve) => (end = () => resolve([])));
    const rests = Array.from({ length: 8 }, () => ({ tag: TAG, ranges: Promise.resolve([range(1n, 1n)]) }));
    const done = watch(giveBackAll(store, [...rests, { tag: 'late', ranges: late }]));
    await new Promise(setImmediate);
    expect([store.count('giveBack'), done.settled]).toEqual([8, false]);
    end();
    await new Promise(setImmediate);
    expect(done.code).toBe('LEAF_STORE_UNAVAILABLE');
  });
});
