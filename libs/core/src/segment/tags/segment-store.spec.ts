import { LeafError, SegmentStore } from '@leaf-ids/core';
import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';

describe('SegmentStore', () => {
  it('allocates for several tags one after the other by default, and a refusal affects no other tag', async () => {
    const { store } = new SegmentRig(10);
    const requests = [
      { tag: 'none', size: 1 },
      { tag: TAG, size: 2 },
    ];
    const [refused, granted] = await SegmentStore.prototype.allocateAll.call(store, requests);
    expect(refused).toBeInstanceOf(LeafError);
    expect(granted).toMatchObject({ from: 1n, to: 2n });
    store.failNext(1, new TypeError('broken'));
    await expect(SegmentStore.prototype.allocateAll.call(store, requests)).rejects.toThrow('broken');
  });

  it('lists all tags in one page, and is one database, by default', async () => {
    const { store } = new SegmentRig();
    store.put('other', 1n, 10);
    const pages: string[][] = [];
    for await (const page of SegmentStore.prototype.tagPages.call(store)) pages.push(page.map(({ tag }) => tag));
    expect(pages).toEqual([[TAG, 'other']]);
    expect([TAG, 'other'].map((tag) => store.databaseOf(tag))).toEqual(['memory', 'memory']);
  });

  it('moves a tag that has lost its newest allocations to the ID after them, by default', async () => {
    const { store } = new SegmentRig(10);
    await store.recover(TAG, 42n);
    expect(store.maxId(TAG)).toBe(42n);
    await store.recover(TAG, 41n);
    expect(store.maxId(TAG)).toBe(42n);
  });

  it('answers a ping by looking for a tag', async () => {
    const { store } = new SegmentRig();
    await expect(store.ping()).resolves.toBeUndefined();
    expect(store.calls).toEqual([{ method: 'findTag', tag: 'ping' }]);
  });

  it('fails a ping as it fails any call', async () => {
    const { store } = new SegmentRig();
    store.breakDown();
    await expect(store.ping()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
  });
});
