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
