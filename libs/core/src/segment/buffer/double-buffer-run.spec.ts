import { idsOf, SegmentRig, TAG, takeMany } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import type { DoubleBuffer } from './double-buffer';

interface Loaded {
  readonly rig: SegmentRig;
  readonly buffer: DoubleBuffer;
}

/** A buffer that holds 4 to 10 and 11 to 20 of the row's step 10. */
async function loaded(): Promise<Loaded> {
  const rig = new SegmentRig(10);
  const buffer = rig.buffer();
  await takeMany(buffer, 3);
  await rig.settle();
  return { rig, buffer };
}

describe('DoubleBuffer, consecutive IDs', () => {
  /** Another server takes the next step of the row. */
  const otherServer = ({ rig }: Loaded): Promise<unknown> => rig.store.allocate(TAG, 10);

  it('takes them across segments that adjoin each other', async () => {
    const { rig, buffer } = await loaded();
    await expect(buffer.takeRanges(9, true)).resolves.toEqual([
      { from: 4n, to: 10n },
      { from: 11n, to: 12n },
    ]);
    // Not loaded yet: the row goes on where the buffer ends.
    expect(idsOf(...(await buffer.takeRanges(25, true)))).toEqual(idsOf({ from: 13n, to: 37n }));
    expect(await buffer.take()).toBe(38n);
    expect(rig.totals.loads).toBeGreaterThan(0);
  });

  it('skips the IDs below a gap that another server made, and issues none of them later', async () => {
    const world = await loaded();
    const { buffer } = world;
    await otherServer(world);
    // 4 to 20 are buffered, 21 to 30 belong to the other server.
    expect(await buffer.takeRanges(18, true)).toEqual([{ from: 31n, to: 48n }]);
    expect(buffer.issued).toBe(21);
    expect(await buffer.take()).toBe(49n);
  });

  it('takes them from the first buffered segment with enough of them, without a call to the store', async () => {
    const world = await loaded();
    const { rig, buffer } = world;
    await otherServer(world);
    await takeMany(buffer, 10);
    await rig.settle();
    expect(buffer.snapshot()).toMatchObject({ current: { from: 11n, position: 14n }, next: { from: 31n, to: 50n } });
    rig.store.breakDown();
    expect(buffer.tryRanges(7, true)).toEqual([{ from: 14n, to: 20n }]);
    expect(buffer.tryRanges(20, true)).toEqual([{ from: 31n, to: 50n }]);
    expect(buffer.tryRanges(1, true)).toBeUndefined();
  });

  it('counts skipped IDs as a gap, not as issued', async () => {
    const world = await loaded();
    const { rig, buffer } = world;
    await otherServer(world);
    await takeMany(buffer, 10);
    await rig.settle();
    const { buffered, issued, revision } = buffer;
    expect(buffer.tryRanges(8, true)).toEqual([{ from: 31n, to: 38n }]);
    expect(buffer.issued).toBe(issued + 8);
    expect(buffer.buffered).toBe(buffered - 15);
    expect(buffer.revision).toBeGreaterThan(revision);
  });

  describe('of a tag whose blocks do not adjoin', () => {
    async function interleaved(): Promise<Loaded> {
      const { rig, buffer } = await loaded();
      rig.store.most = 4;
      rig.store.gap = 1n;
      return { rig, buffer };
    }

    it('refuses more than a block after two allocations, drops them, and keeps what was buffered', async () => {
      const { rig, buffer } = await interleaved();
      for (let call = 1; call <= 5; call++) {
        const before = rig.store.count('allocate');
        const answer = watch(buffer.takeRanges(1000, true));
        await rig.settle();
        expect(answer.code).toBe('LEAF_SIZE_INVALID');
        expect(rig.store.count('allocate') - before).toBe(2);
        expect(buffer.snapshot()).toMatchObject({ current: { position: 4n, to: 10n }, next: { from: 11n }, spare: [] });
        expect(buffer.issued).toBe(3);
      }
      expect(await buffer.takeRanges(2, true)).toEqual([{ from: 4n, to: 5n }]);
      expect(await takeMany(buffer, 15)).toEqual(idsOf({ from: 6n, to: 20n }));
      // Five refused calls have dropped ten blocks of 4 IDs, each above a gap of one.
      expect(await buffer.take()).toBe(72n);
    });

    it('takes them from the first block that is loaded, if that has enough', async () => {
      const { rig, buffer } = await interleaved();
      rig.store.most = 18;
      expect(await buffer.takeRanges(18, true)).toEqual([{ from: 22n, to: 39n }]);
    });

    it('drops blocks that arrive after the caller has timed out', async () => {
      const { rig, buffer } = await interleaved();
      for (let call = 1; call <= 5; call++) {
        rig.store.hold();
        const answer = watch(buffer.takeRanges(18, true));
        await rig.clock.advance(rig.options.waitMs + 1);
        expect(answer.error).toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE' });
        rig.store.release();
        await rig.settle();
        expect(buffer.buffered).toBe(17);
      }
    });
  });
});
