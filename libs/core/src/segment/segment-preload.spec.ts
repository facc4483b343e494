import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../test/support/watch';

describe('SegmentIdGenerator, preloading', () => {
  it('loads the first IDs of known tags, and skips unknown tags', async () => {
    const rig = new SegmentRig(10);
    rig.store.put('user', 1n, 10);
    const generator = rig.generator();
    await generator.refresh.run();
    expect(await generator.preload([TAG, 'gone', 'user'], 1000)).toBe(2);
    const asked = rig.store.calls.length;
    expect([generator.tryNext(TAG), generator.tryNext('user')]).toEqual([1n, 1n]);
    expect(rig.store.calls.slice(0, asked).some((call) => JSON.stringify(call).includes('gone'))).toBe(false);
  });

  it('loads a tag once', async () => {
    const rig = new SegmentRig(10);
    const generator = rig.generator();
    await generator.refresh.run();
    await generator.preload([TAG], 1000);
    await generator.preload([TAG], 1000);
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('starts no load after its time limit, and does not wait indefinitely', async () => {
    const rig = new SegmentRig(10);
    const tags = Array.from({ length: 20 }, (_, n) => `t${n}`);
    for (const tag of tags) rig.store.put(tag, 1n, 10);
    const generator = rig.generator();
    await generator.refresh.run();
    expect(await generator.preload(tags, 0)).toBe(0);
    rig.store.hold();
    const preloading = watch(generator.preload(tags, 500));
    await rig.clock.advance(5000);
    expect(preloading.value).toBe(4);
  });

  it('starts no load once the generator is closed', async () => {
    const rig = new SegmentRig(10);
    const tags = Array.from({ length: 20 }, (_, n) => `t${n}`);
    for (const tag of tags) rig.store.put(tag, 1n, 10);
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.hold();
    const preloading = watch(generator.preload(tags, 500));
    const closing = generator.close();
    rig.store.release();
    await closing;
    await rig.settle();
    expect(preloading.value).toBe(4);
  });
});
