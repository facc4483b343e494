import { LeafError } from '../../errors/leaf-error';
import { PLAIN_TAG } from '../tags/tag-settings';
import { watch } from '../../../../../test/support/watch';
import { SegmentRig, TAG } from '../../../../../test/support/fakes/segment-rig';

const UNAVAILABLE = new LeafError('LEAF_STORE_UNAVAILABLE', 'The memory does not answer.');

/** A server that has issued an ID of a tag; then its row is deleted by hand. */
async function withDeletedRow(): Promise<{ rig: SegmentRig; generator: ReturnType<SegmentRig['generator']> }> {
  const rig = new SegmentRig(100);
  const generator = rig.generator();
  expect(await generator.next(TAG)).toBe(1n);
  rig.store.rows.delete(TAG);
  return { rig, generator };
}

describe('SegmentIdGenerator, rows that are deleted and inserted again', () => {
  it.each([
    ['served', false],
    ['paused', true],
  ])('gives no ID again of a row that a refresh missed while it was %s', async (_, paused) => {
    const { rig, generator } = await withDeletedRow();
    if (paused) await generator.pause(TAG);
    await generator.refresh.run();
    rig.store.put(TAG, 1n, 100);
    expect(await generator.next(TAG)).toBe(101n);
  });

  it('issues no ID again on a server that did not know the tag', async () => {
    const { rig, generator } = await withDeletedRow();
    await generator.refresh.run();
    rig.store.put(TAG, 1n, 100);
    expect(await rig.generator().next(TAG)).toBe(101n);
  });

  it('keeps the IDs in memory while the store cannot record them, and records them later', async () => {
    const { rig, generator } = await withDeletedRow();
    const record = jest.spyOn(rig.store, 'recordDeleted').mockRejectedValueOnce(UNAVAILABLE);
    await generator.refresh.run();
    expect(rig.refreshFailures).toEqual([UNAVAILABLE]);
    rig.store.put(TAG, 1n, 100);
    const id = generator.next(TAG);
    await rig.clock.advance(1000);
    expect(await id).toBe(101n);
    expect(rig.store.deleted.size).toBe(0);
    await generator.refresh.run();
    expect(rig.store.deleted).toEqual(new Map([[TAG, 101n]]));
    await generator.refresh.run();
    expect(record).toHaveBeenCalledTimes(2);
  });

  it('keeps a higher value that arrives while a lower one is recorded', async () => {
    const { rig, generator } = await withDeletedRow();
    await generator.refresh.run();
    rig.store.put(TAG, 1n, 100);
    expect(await generator.next(TAG)).toBe(101n);
    rig.store.deleted.clear();
    generator.remove(TAG);
    rig.store.hold();
    const refresh = generator.refresh.run();
    await rig.settle();
    rig.store.held.find(({ method }) => method === 'listTags')!.answer();
    await rig.settle();
    const [lower] = rig.store.held.filter(({ method }) => method === 'recordDeleted');
    // While the database is slow, the row comes back, gives IDs, and is deleted again.
    rig.store.put(TAG, 201n, 100);
    generator.add({ tag: TAG, kind: PLAIN_TAG });
    const next = watch(generator.next(TAG));
    await rig.settle();
    rig.store.held.find(({ method }) => method === 'allocate')!.answer();
    await rig.settle();
    expect(next.value).toBe(201n);
    generator.remove(TAG);
    lower!.answer();
    rig.store.release();
    await refresh;
    rig.store.rows.delete(TAG);
    await generator.refresh.run();
    expect(rig.store.deleted).toEqual(new Map([[TAG, 301n]]));
  });

  it('gives no number again of a period whose rows are deleted with the row of its tag', async () => {
    const rig = new SegmentRig(100);
    const daily = { ...PLAIN_TAG, reset: 'daily' as const };
    rig.store.put('daily', 1n, 100, daily);
    const [first, other] = [rig.generator(), rig.generator()];
    const { period } = await first.takeInPeriod('daily', 1);
    const record = jest.spyOn(rig.store, 'recordDeleted').mockRejectedValueOnce(UNAVAILABLE);
    rig.store.rows.clear();
    await first.refresh.run();
    rig.store.put('daily', 1n, 100, daily);
    const from = async (generator: typeof first): Promise<bigint | undefined> =>
      (await generator.takeInPeriod('daily', 1)).ranges[0]?.from;
    expect(await from(first)).toBe(101n);
    rig.store.rows.clear();
    await first.refresh.run();
    expect(rig.store.deleted).toEqual(new Map([[`daily@${period}`, 201n]]));
    rig.store.put('daily', 1n, 100, daily);
    expect(await from(other)).toBe(201n);
    expect(record).toHaveBeenCalledTimes(2);
  });

  it('records nothing of a tag without IDs', async () => {
    const rig = new SegmentRig(100);
    const generator = rig.generator();
    await generator.refresh.run();
    rig.store.rows.delete(TAG);
    await generator.refresh.run();
    expect(rig.store.count('recordDeleted')).toBe(0);
  });

  it('refuses a range whose allocation completes after its tag was removed: a new row may issue its IDs', async () => {
    const { rig, generator } = await withDeletedRow();
    rig.store.put(TAG, 101n, 100);
    rig.store.hold();
    const range = watch(generator.takeRanges(TAG, 1000));
    await rig.settle();
    rig.store.held[0]!.apply();
    generator.remove(TAG);
    rig.store.release();
    await rig.settle();
    expect(range.code).toBe('LEAF_TAG_NOT_FOUND');
  });
});
