import { SegmentRig } from '../../../../test/support/fakes/segment-rig';

describe('SegmentStore', () => {
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
