import { idsOf, SegmentRig } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import { LeafError } from '../../errors/leaf-error';
import type { SegmentIdGenerator } from '../segment-id-generator';
import { PLAIN_TAG, type TagKind } from '../tags/tag-settings';

const DAILY: TagKind = { ...PLAIN_TAG, reset: 'daily', zone: 'UTC' };
const HOUR_MS = 3_600_000;
/** The clock of the rig begins on this day, and 6400 seconds before its end. */
const TODAY = '2023-11-14';
const TOMORROW = '2023-11-15';
const LEFT_MS = 6_400_000;

describe('The rows of a tag that restarts each day', () => {
  let rig: SegmentRig;
  let generator: SegmentIdGenerator;

  beforeEach(() => {
    rig = new SegmentRig();
    rig.store.rows.clear();
    rig.store.put('invoice', 1n, 10, DAILY);
    generator = rig.generator();
  });

  const take = (count = 1, at?: number) => generator.takeInPeriod('invoice', count, at);
  const row = (day: string) => `invoice@${day}`;
  const begun = (): number => rig.store.count('beginPeriod');

  it('are created three minutes before the next day, if the tag is in use', async () => {
    await take();
    await rig.clock.advance(LEFT_MS - 180_001);
    await generator.refresh.run();
    expect(rig.store.rows.has(row(TOMORROW))).toBe(false);
    await rig.clock.advance(1);
    await generator.refresh.run();
    expect(rig.store.maxId(row(TOMORROW))).toBe(11n);
    await generator.refresh.run();
    expect([begun(), rig.refreshFailures]).toEqual([2, []]);
  });

  it('keep their buffer for an hour after its last use, and that of today for longer', async () => {
    const yesterday = rig.clock.now() - 24 * HOUR_MS;
    await take();
    await take(1, yesterday);
    expect(generator.snapshotOf('invoice')).toMatchObject({ issued: 2, period: TODAY });
    await rig.clock.advance(HOUR_MS - 1);
    await generator.refresh.run();
    expect(rig.store.givenBack).toStrictEqual([]);
    await rig.clock.advance(1);
    await generator.refresh.run();
    expect(rig.store.givenBack).toEqual([{ tag: row('2023-11-13'), from: 2n, to: 10n }]);
    await take();
    expect(begun()).toBe(2);
  });

  it('are not asked for any more when no call waits for them', async () => {
    await generator.refresh.run();
    rig.store.breakDown();
    const call = watch(take());
    await rig.clock.advance(rig.options.waitMs);
    expect([call.code, begun() > 2]).toEqual(['LEAF_SEGMENT_UNAVAILABLE', true]);
    // The pause after the latest attempt.
    await rig.clock.advance(1000);
    const before = begun();
    await rig.clock.advance(10_000);
    expect(begun()).toBe(before);
  });

  it('are asked for once if the store refuses them', async () => {
    await generator.refresh.run();
    rig.store.failNext(1, new LeafError('LEAF_PERIOD_INVALID', 'The clocks differ.'));
    await expect(take()).rejects.toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
    rig.store.failNext(1, new TypeError('broken'));
    await expect(take()).rejects.toThrow('broken');
    expect(begun()).toBe(2);
    expect(await take()).toMatchObject({ ranges: [{ from: 1n, to: 1n }] });
  });

  it('are created again once for a call, when they disappear', async () => {
    await take();
    rig.store.put(row(TODAY), 11n, 10);
    const allocate = jest.spyOn(rig.store, 'allocate');
    allocate.mockImplementation(() => Promise.reject(new LeafError('LEAF_TAG_NOT_FOUND', 'Gone.')));
    await expect(take(20)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(begun()).toBe(2);
    allocate.mockRestore();
    rig.store.rows.delete(row(TODAY));
    expect(await take(20)).toEqual({ period: TODAY, ranges: [{ from: 11n, to: 30n }] });
  });

  it('are created again once for calls that come together, and each number counts once', async () => {
    await take(3);
    await rig.settle();
    rig.store.rows.delete(row(TODAY));
    const calls = [20, 1, 30, 1, 40].map((count) => watch(take(count)));
    await rig.settle();
    const numbers = calls.flatMap(({ value }) => idsOf(...value!.ranges));
    expect([numbers.length, new Set(numbers).size, begun()]).toEqual([92, 92, 2]);
    expect(Math.min(...numbers.map(Number))).toBe(4);
    expect([generator.issued, generator.snapshotOf('invoice')?.issued]).toEqual([95, 95]);
  });

  it('are kept when the store does not answer', async () => {
    await take();
    await rig.settle();
    rig.store.breakDown();
    const call = watch(take(50));
    await rig.clock.advance(rig.options.waitMs);
    expect([call.code, begun()]).toEqual(['LEAF_SEGMENT_UNAVAILABLE', 1]);
    expect(await take()).toMatchObject({ ranges: [{ from: 2n, to: 2n }] });
  });

  it('are not asked for again when the tag has ended', async () => {
    await generator.refresh.run();
    rig.store.breakDown();
    const call = watch(take());
    await rig.settle();
    generator.remove('invoice');
    // The attempt that is due.
    await rig.clock.advance(50);
    const before = begun();
    await rig.clock.advance(rig.options.waitMs);
    expect([call.settled, begun()]).toEqual([true, before]);
  });

  it('continue above all numbers when the tag is deleted with them, and created again', async () => {
    await take(3);
    await take(1, rig.clock.now() - 24 * HOUR_MS);
    for (const name of ['invoice', row(TODAY), row('2023-11-13')]) rig.store.rows.delete(name);
    await generator.refresh.run();
    expect(generator.tagCount).toBe(0);
    expect([rig.store.deleted.get(row(TODAY)), rig.store.deleted.get(row('2023-11-13'))]).toEqual([14n, 11n]);
    rig.store.put('invoice', 1n, 10, DAILY);
    await generator.refresh.run();
    // 4 to 13 were buffered.
    expect(await take()).toEqual({ period: TODAY, ranges: [{ from: 14n, to: 14n }] });
  });

  it('continue above numbers whose row was lost before the tag was deleted', async () => {
    await take(3);
    await rig.settle();
    rig.store.rows.delete(row(TODAY));
    rig.store.failNext(2, new LeafError('LEAF_TAG_NOT_FOUND', 'Gone.'));
    const call = watch(take(50));
    await rig.settle();
    expect(call.code).toBe('LEAF_TAG_NOT_FOUND');
    rig.store.rows.delete('invoice');
    await generator.refresh.run();
    expect(rig.store.deleted.get(row(TODAY))).toBe(14n);
  });

  it('are not asked for when the tag ends in the same turn', async () => {
    await generator.refresh.run();
    const call = watch(take());
    generator.remove('invoice');
    await rig.settle();
    expect(call.code).toBe('LEAF_TAG_NOT_FOUND');
    expect(begun()).toBe(0);
  });

  it('issue no number when the generator closes while they are created', async () => {
    await generator.refresh.run();
    rig.store.hold();
    const call = watch(take());
    await rig.settle();
    const closed = watch(generator.close());
    rig.store.release();
    await rig.settle();
    expect([call.code, closed.value, rig.store.count('allocate')]).toEqual(['LEAF_NOT_READY', 0, 0]);
  });

  it('are not asked for again when the generator has closed', async () => {
    await generator.refresh.run();
    rig.store.breakDown();
    const call = watch(take());
    await rig.settle();
    await generator.close();
    await rig.clock.advance(10_000);
    expect([call.settled, begun()]).toEqual([true, 1]);
  });

  it('appear together, with the figures of all days and the step of the newest', async () => {
    const seen: unknown[] = [];
    const look = (): void => generator.visit((...figures) => seen.push(figures));
    await generator.refresh.run();
    look();
    await take();
    look();
    for (let count = 0; count < 30; count++) await take(1, rig.clock.now() + 24 * HOUR_MS);
    look();
    await rig.clock.advance(HOUR_MS);
    await generator.refresh.run();
    look();
    expect(seen).toEqual([
      ['invoice', 0, 0, 0],
      ['invoice', 1, 9, 10],
      ['invoice', 31, 9 + 50, 40],
      ['invoice', 31, 9, 10],
    ]);
    expect(generator.snapshotOf('invoice')).toMatchObject({ issued: 31, buffered: 9, period: TODAY, paused: false });
  });

  it('change the revision of the tag when they come, go, or issue a number, and when it is paused', async () => {
    await generator.refresh.run();
    const revisions: (number | undefined)[] = [];
    const note = async (act: () => unknown): Promise<void> => {
      await act();
      revisions.push(generator.revisionOf('invoice'));
    };
    await note(() => undefined);
    await note(() => generator.pause('invoice'));
    await generator.resume('invoice');
    for (const at of [rig.clock.now() - 24 * HOUR_MS, rig.clock.now()]) {
      await note(() => take(1, at));
      await note(() => take(1, at));
      await note(() => generator.pause('invoice'));
      await generator.resume('invoice');
    }
    await rig.clock.advance(HOUR_MS);
    await note(() => generator.refresh.run());
    await note(() => take());
    expect(new Set(revisions).size).toBe(revisions.length);
    expect(revisions).not.toContain(undefined);
  });

  it('never give the tag the revision of another state', async () => {
    await generator.refresh.run();
    const shownAt = new Map<number, string>();
    const note = (): void => {
      const shown = JSON.stringify(generator.snapshotOf('invoice'), (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      const revision = generator.revisionOf('invoice')!;
      expect(shownAt.get(revision) ?? shown).toBe(shown);
      shownAt.set(revision, shown);
    };
    note();
    for (let round = 0; round < 2; round++) {
      rig.store.hold();
      const call = watch(take(1, rig.clock.now() - 24 * HOUR_MS));
      await rig.settle();
      rig.store.held[0]!.answer();
      await rig.settle();
      note();
      rig.store.release();
      await rig.settle();
      expect(call.settled).toBe(true);
      note();
      await generator.pause('invoice');
      note();
      await generator.resume('invoice');
      note();
      await rig.clock.advance(HOUR_MS);
      await generator.refresh.run();
      note();
    }
    expect(shownAt.size).toBe(9);
  });

  it('name the pause to a call that comes with it', async () => {
    await generator.pause('invoice');
    expect([await generator.resume('invoice'), await generator.resume('invoice')]).toEqual([true, false]);
    await generator.pause('invoice');
    expect(generator.snapshotOf('invoice')).toMatchObject({ paused: true, period: undefined });
    await expect(take()).rejects.toMatchObject({ code: 'LEAF_TAG_PAUSED' });
    expect(begun()).toBe(0);
  });
});

describe('Tags that restart', () => {
  it.each<[string, Partial<TagKind>]>([
    ['order', { order: 'strict' }],
    ['zone', { zone: 'Asia/Tokyo' }],
    ['periods', { reset: 'monthly' }],
  ])('are replaced by a row with another %s, whose numbers go on above', async (_, change) => {
    const rig = new SegmentRig();
    rig.store.put('invoice', 1n, 10, DAILY);
    const generator = rig.generator();
    await generator.takeInPeriod('invoice', 3);
    await rig.settle();
    const known = generator.snapshotOf('invoice');
    await generator.refresh.run();
    expect(generator.snapshotOf('invoice')).toEqual(known);
    const waiting = watch(generator.takeInPeriod('invoice', 3));
    rig.store.put('invoice', 1n, 10, { ...DAILY, ...change });
    await generator.refresh.run();
    expect(waiting.value).toMatchObject({ ranges: [{ from: 4n, to: 6n }] });
    expect(generator.snapshotOf('invoice')).toMatchObject({ issued: 0, order: change.order ?? 'relaxed' });
    // 7 to 23 were buffered.
    expect(rig.store.deleted.get(`invoice@${TODAY}`)).toBe(24n);
  });

  it('are not asked for their next days by more than four at a time while the database fails', async () => {
    const rig = new SegmentRig();
    const tags = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const tag of tags) rig.store.put(tag, 1n, 10, DAILY);
    const generator = rig.generator();
    for (const tag of tags) await generator.takeInPeriod(tag, 1);
    await rig.clock.advance(LEFT_MS - 100_000);
    const before = rig.store.count('beginPeriod');
    const failure = new LeafError('LEAF_STORE_UNAVAILABLE', 'Down.', { retryAfterMs: 1000 });
    const begin = jest.spyOn(rig.store, 'beginPeriod').mockRejectedValue(failure);
    const refreshed = watch(generator.refresh.run());
    await rig.clock.advance(rig.options.waitMs);
    expect(refreshed.settled).toBe(true);
    expect([before, new Set(begin.mock.calls.map(([tag]) => tag)).size]).toEqual([6, 4]);
    expect(generator.refresh.snapshot().lastError).toContain('has no ID after');
  });

  it('are listed while they are paused', async () => {
    const rig = new SegmentRig();
    for (const tag of ['a', 'b']) rig.store.put(tag, 1n, 10, DAILY);
    const generator = rig.generator();
    await generator.refresh.run();
    await generator.pause('b');
    expect(generator.pausedTags()).toEqual(['b']);
    expect(generator.snapshot().map(({ tag }) => tag)).toEqual(['order', 'a', 'b']);
    await generator.close();
    expect(generator.tagCount).toBe(0);
  });
});
