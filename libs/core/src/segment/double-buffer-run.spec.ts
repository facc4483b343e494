import { idsOf, SegmentRig, TAG, takeMany } from '../../../../test/support/fakes/segment-rig';
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

  it('refuses more than the store allocates at once, and keeps what was loaded', async () => {
    const { rig, buffer } = await loaded();
    rig.store.most = 4;
    rig.store.gap = 1n;
    await expect(buffer.takeRanges(18, true)).rejects.toMatchObject({ code: 'LEAF_SIZE_INVALID' });
    expect(await buffer.takeRanges(2, true)).toEqual([{ from: 4n, to: 5n }]);
    expect(await takeMany(buffer, 15)).toEqual(idsOf({ from: 6n, to: 20n }));
  });
});
