import { PLAIN_TAG } from '@leaf-ids/core';
import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';
import { until } from '../../../../test/support/until';
import type { SegmentIdGenerator } from './segment-id-generator';

describe('SegmentIdGenerator, watched', () => {
  let rig: SegmentRig;
  let generator: SegmentIdGenerator;

  beforeEach(async () => {
    rig = new SegmentRig();
    generator = rig.generator();
    await generator.refresh.run();
  });

  it('shows one tag', async () => {
    expect(generator.snapshotOf('nothing')).toBeUndefined();
    expect(generator.revisionOf('nothing')).toBeUndefined();
    await generator.next(TAG);
    expect(generator.snapshotOf(TAG)).toEqual({ ...generator.snapshot()[0], paused: false });
    await generator.pause(TAG);
    expect(generator.snapshotOf(TAG)).toMatchObject({ issued: 1, paused: true });
    expect(generator.tagCount).toBe(1);
  });

  it('has another revision of the names when a tag comes or goes', async () => {
    const revisions = [generator.namesRevision];
    await generator.next(TAG);
    expect(generator.namesRevision).toBe(revisions[0]);
    generator.add({ tag: 'user', kind: PLAIN_TAG });
    revisions.push(generator.namesRevision);
    generator.remove('user');
    revisions.push(generator.namesRevision);
    expect(new Set(revisions).size).toBe(3);
  });

  it('names its refresh task', () => {
    expect(generator.refresh.snapshot()).toMatchObject({ name: 'tag-refresh', runs: 1, failures: 0 });
  });

  // Revisions of tags that are not paused start at 0.
  it('has different revisions while a tag is paused, even if the tag was never used', async () => {
    await generator.pause(TAG);
    expect(generator.revisionOf(TAG)).toBeLessThan(0);
    await generator.resume(TAG);
    await generator.next(TAG);
    const served = generator.revisionOf(TAG);
    await generator.pause(TAG);
    expect(served).toBeGreaterThan(0);
    expect(generator.revisionOf(TAG)).toBeLessThan(0);
  });

  it('changes the revision whenever the snapshot changes', async () => {
    const shown = (): string =>
      JSON.stringify(generator.snapshotOf(TAG), (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
    const byRevision = new Map<number | undefined, string>();
    const look = (): void => {
      const revision = generator.revisionOf(TAG);
      expect(byRevision.get(revision) ?? shown()).toBe(shown());
      byRevision.set(revision, shown());
    };
    look();
    rig.store.hold();
    const first = generator.next(TAG);
    await until('the load', () => rig.store.held.length > 0);
    look();
    rig.store.release();
    await first;
    look();
    await generator.takeRanges(TAG, 3);
    look();
    await rig.clock.advance(0);
    look();
    // A call that times out, and whose IDs are loaded afterwards.
    rig.store.hold();
    const order = generator.takeRanges(TAG, 100_000).catch((error: unknown) => error);
    await rig.clock.advance(0);
    look();
    await rig.clock.advance(60_000);
    await order;
    look();
    rig.store.release();
    await rig.clock.advance(0);
    look();
    rig.store.breakDown();
    const refused = generator.takeRanges(TAG, 1_000_000).catch((error: unknown) => error);
    await rig.clock.advance(60_000);
    await refused;
    look();
    await generator.pause(TAG);
    look();
    await generator.resume(TAG);
    look();
    expect(byRevision.size).toBeGreaterThanOrEqual(8);
  });
});
