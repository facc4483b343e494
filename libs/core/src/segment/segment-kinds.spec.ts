import { isLeafError, PLAIN_TAG, type TagKind } from '@leaf-ids/core';
import { SegmentIdGenerator } from '@leaf-ids/core/internal';
import { SegmentRig, TAG } from '../../../../test/support/fakes/segment-rig';

const DAILY: TagKind = { ...PLAIN_TAG, reset: 'daily', zone: 'UTC' };
const GAPLESS: TagKind = { ...PLAIN_TAG, order: 'gapless', reset: 'yearly', pattern: '{YYYY}-{seq}' };

describe('SegmentIdGenerator, tags of each kind', () => {
  let rig: SegmentRig;
  let generator: SegmentIdGenerator;

  beforeEach(() => {
    rig = new SegmentRig(10);
    rig.store.put('invoice', 1n, 10, DAILY);
    rig.store.put('bill', 1n, 10, GAPLESS);
    generator = rig.generator();
  });

  it('gives what is buffered without waiting', async () => {
    expect([generator.tryNextNumber(TAG), generator.tryRanges(TAG, 1)]).toEqual([undefined, undefined]);
    await generator.next(TAG);
    await rig.settle();
    expect([generator.tryNextNumber(TAG), generator.tryRanges(TAG, 3)]).toEqual([2, [{ from: 3n, to: 5n }]]);
    expect(generator.tryRanges(TAG, 1000)).toBeUndefined();
    await generator.pause(TAG);
    expect([generator.tryNextNumber(TAG), generator.tryRanges(TAG, 1)]).toEqual([undefined, undefined]);
  });

  it.each(['takeRanges', 'tryRanges'] as const)(
    'gives IDs on both sides of a gap, unless they must adjoin: %s',
    async (take) => {
      rig = new SegmentRig(10, { maxStep: 10 });
      generator = rig.generator();
      await generator.next(TAG);
      await rig.store.allocate(TAG, 10);
      await generator.next(TAG);
      await generator.next(TAG);
      await rig.settle();
      expect(await generator[take](TAG, 5)).toEqual([{ from: 4n, to: 8n }]);
      expect(await generator[take](TAG, 3)).toEqual([
        { from: 9n, to: 10n },
        { from: 21n, to: 21n },
      ]);
      expect(await generator[take](TAG, 2, true)).toEqual([{ from: 22n, to: 23n }]);
    },
  );

  it.each(['before the tags are known', 'once they are known'])('says how often a tag restarts, %s', async (when) => {
    if (when === 'once they are known') await generator.refresh.run();
    await expect(generator.resetOf('invoice')).resolves.toBe('daily');
    await expect(generator.resetOf(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_PERIODIC' });
    await expect(generator.resetOf('bill')).rejects.toMatchObject({ code: 'LEAF_TAG_GAPLESS' });
    await expect(generator.resetOf('none')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    await expect(generator.resetOf('a b')).rejects.toMatchObject({ code: 'LEAF_TAG_INVALID' });
    await generator.pause(TAG);
    await expect(generator.resetOf(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_PAUSED' });
    await generator.close();
    await expect(generator.resetOf('order')).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    expect(rig.store.count('allocate')).toBe(0);
  });

  it('asks the store nothing about a known tag that it has to refuse', async () => {
    await generator.refresh.run();
    await expect(generator.next('invoice')).rejects.toMatchObject({ code: 'LEAF_TAG_PERIODIC' });
    await expect(generator.takeInPeriod(TAG, 1)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_PERIODIC' });
    expect(rig.store.count('findTag')).toBe(0);
  });

  it('says which tags are strict over all servers', async () => {
    rig.store.put('strict', 1n, 10, { ...PLAIN_TAG, order: 'strict' });
    rig.store.put('strict-daily', 1n, 10, { ...DAILY, order: 'strict' });
    await generator.refresh.run();
    const strict = [TAG, 'invoice', 'bill', 'none', 'strict', 'strict-daily'].filter((tag) => generator.isStrict(tag));
    expect(strict).toEqual(['strict', 'strict-daily']);
  });

  it('issues no ID of a gapless tag, also if it restarts', async () => {
    await expect(generator.next('bill')).rejects.toMatchObject({ code: 'LEAF_TAG_GAPLESS' });
    await expect(generator.takeInPeriod('bill', 1)).rejects.toMatchObject({ code: 'LEAF_TAG_GAPLESS' });
    expect(generator.snapshotOf('bill')).toMatchObject({ order: 'gapless', issued: 0 });
    expect([generator.isStrict('bill'), generator.isStrict('invoice')]).toEqual([false, false]);
  });

  it('replaces a tag only by one of another kind', async () => {
    await generator.refresh.run();
    const { namesRevision } = generator;
    await generator.refresh.run();
    for (const [tag, kind] of [
      [TAG, PLAIN_TAG],
      ['invoice', DAILY],
      ['bill', GAPLESS],
    ] as const) {
      generator.add({ tag, kind });
    }
    generator.remove('none');
    expect(generator.namesRevision).toBe(namesRevision);
    const seen: unknown[] = [];
    for (const kind of [DAILY, GAPLESS, PLAIN_TAG, { ...PLAIN_TAG, order: 'strict' } as const, GAPLESS, DAILY]) {
      const before = generator.namesRevision;
      generator.add({ tag: TAG, kind });
      const { order, period } = generator.snapshotOf(TAG)!;
      seen.push([
        order,
        await generator.resetOf(TAG).catch((error: unknown) => (isLeafError(error) ? error.code : error)),
      ]);
      expect([generator.namesRevision > before, generator.tagCount, period]).toEqual([true, 3, undefined]);
    }
    expect(seen).toEqual([
      ['relaxed', 'daily'],
      ['gapless', 'LEAF_TAG_GAPLESS'],
      ['relaxed', 'LEAF_TAG_NOT_PERIODIC'],
      ['strict', 'LEAF_TAG_NOT_PERIODIC'],
      ['gapless', 'LEAF_TAG_GAPLESS'],
      ['relaxed', 'daily'],
    ]);
    const before = generator.namesRevision;
    generator.remove(TAG);
    expect(generator.namesRevision).toBeGreaterThan(before);
  });

  it('drops a known tag whose row becomes invalid, and adds none that is', async () => {
    await generator.refresh.run();
    for (const tag of [TAG, 'invoice', 'new']) generator.add({ tag, kind: undefined });
    expect([TAG, 'invoice', 'new'].map((tag) => generator.snapshotOf(tag))).toEqual([undefined, undefined, undefined]);
    expect(generator.tagCount).toBe(1);
  });

  it('has another revision of the names when a lookup finds a tag', async () => {
    const { namesRevision } = generator;
    await generator.next('none').catch(() => undefined);
    expect(generator.namesRevision).toBe(namesRevision);
    await generator.next(TAG);
    expect(generator.namesRevision).toBeGreaterThan(namesRevision);
  });

  it('names each row that is not a tag once, and no more than 20 of them', async () => {
    const names: string[] = [];
    const events = { onLoadFailed: () => undefined, onRefreshFailed: () => undefined };
    const onUnserved = (name: string): void => void names.push(name);
    const watched = new SegmentIdGenerator(rig.store, rig.clock, () => 0, rig.options, { ...events, onUnserved });
    for (const name of ['not a tag', 'größe']) rig.store.put(name, 1n, 10);
    for (let run = 0; run < 2; run++) await watched.refresh.run();
    expect(names).toEqual(['not a tag', 'größe']);
    for (let row = 0; row < 30; row++) rig.store.put(`no ${row}`, 1n, 10);
    await watched.refresh.run();
    expect(names).toHaveLength(20);
    expect(watched.tagCount).toBe(3);
    await generator.refresh.run();
    expect([generator.tagCount, rig.refreshFailures]).toEqual([3, []]);
  });
});
