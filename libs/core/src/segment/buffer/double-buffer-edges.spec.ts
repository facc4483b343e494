import { MAX_ID } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { SegmentRig, stopping, TAG, takeMany } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import { DoubleBuffer } from './double-buffer';

/** Collects what is due at once, so that a test can run it between two promise reactions. */
class HoldingClock extends FakeClock {
  readonly due: (() => void)[] = [];

  override after(ms: number, act: () => void): () => void {
    if (ms > 0) return super.after(ms, act);
    this.due.push(act);
    return () => undefined;
  }
}

describe('DoubleBuffer, numbers', () => {
  it('are given as IDs are: loaded first, prefetched, and none twice', async () => {
    const rig = new SegmentRig(10, { prefetchRatio: 0.5 });
    const buffer = rig.buffer();
    expect(buffer.tryNextNumber()).toBeUndefined();
    await rig.settle();
    const numbers = Array.from({ length: 5 }, () => buffer.tryNextNumber());
    expect([numbers, rig.store.count('allocate')]).toEqual([[1, 2, 3, 4, 5], 1]);
    expect([buffer.tryNext(), buffer.tryNextNumber(), rig.store.count('allocate')]).toEqual([6n, 7, 2]);
    await rig.settle();
    expect(Array.from({ length: 4 }, () => buffer.tryNextNumber())).toEqual([8, 9, 10, 11]);
    await buffer.retire(() => new Error('Stopped.') as never);
    expect(buffer.tryNextNumber()).toBeUndefined();
  });

  it('are not given beyond 2^53 - 1, and their IDs stay', async () => {
    const rig = new SegmentRig(10);
    rig.store.put(TAG, 2n ** 53n - 1n, 10);
    const buffer = rig.buffer();
    await buffer.preload();
    expect([buffer.tryNextNumber(), buffer.tryNextNumber(), buffer.tryNext()]).toEqual([
      2 ** 53 - 1,
      undefined,
      2n ** 53n,
    ]);
  });
});

describe('DoubleBuffer, preload', () => {
  it('loads the first segment once, and waits for it', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    const loads = [watch(buffer.preload()), watch(buffer.preload())];
    await rig.settle();
    expect([loads.map(({ settled }) => settled), rig.store.held.length]).toEqual([[false, false], 1]);
    rig.store.release();
    await rig.settle();
    expect([loads.map(({ settled }) => settled), buffer.buffered]).toEqual([[true, true], 10]);
    await buffer.preload();
    expect(rig.store.count('allocate')).toBe(1);
    expect([buffer.highest, buffer.step]).toEqual([10n, 10]);
  });

  it('waits no longer than a call, and for no load that was refused a moment ago', async () => {
    const rig = new SegmentRig(10);
    const buffer = rig.buffer();
    rig.store.hold();
    const load = watch(buffer.preload());
    await rig.clock.advance(rig.options.waitMs);
    expect([load.settled, load.error]).toEqual([true, undefined]);
    rig.store.rows.delete(TAG);
    rig.store.release();
    await rig.settle();
    await buffer.preload();
    expect(rig.store.count('allocate')).toBe(1);
  });
});

describe('DoubleBuffer, a call that waits in an outage', () => {
  it('lets its load be retried, although as many as may be are retried without a call', async () => {
    const rig = new SegmentRig(10);
    for (let load = 0; load < 32; load++) rig.context.idleRetries.admits({});
    rig.store.breakDown();
    const call = watch(rig.buffer().take());
    await rig.settle();
    expect(rig.store.count('allocate')).toBe(1);
    await rig.clock.advance(24);
    expect(rig.store.count('allocate')).toBe(1);
    rig.store.heal();
    await rig.clock.advance(1);
    expect([call.value, rig.store.count('allocate')]).toEqual([1n, 2]);
  });
});

describe('DoubleBuffer, ranges beside a gap', () => {
  it('takes the IDs on both sides of it, and skips none', async () => {
    const rig = new SegmentRig(10, { maxStep: 10 });
    const buffer = rig.buffer();
    await takeMany(buffer, 1);
    await rig.store.allocate(TAG, 10);
    await takeMany(buffer, 2);
    await rig.settle();
    expect(buffer.tryRanges(9)).toEqual([
      { from: 4n, to: 10n },
      { from: 21n, to: 22n },
    ]);
    await rig.settle();
    const rest = watch(buffer.takeRanges(18));
    await rig.settle();
    expect(rest.value).toEqual([
      { from: 23n, to: 30n },
      { from: 31n, to: 40n },
    ]);
    expect(buffer.issued).toBe(30);
  });

  it('prefetches only once its share is used', async () => {
    const rig = new SegmentRig(10, { prefetchRatio: 0.5 });
    const buffer = rig.buffer();
    await buffer.take();
    expect(buffer.tryRanges(3)).toEqual([{ from: 2n, to: 4n }]);
    expect(rig.store.count('allocate')).toBe(1);
    expect(buffer.tryRanges(1)).toEqual([{ from: 5n, to: 5n }]);
    expect(rig.store.count('allocate')).toBe(2);
  });

  it('asks once for more than a tag has left', async () => {
    const rig = new SegmentRig(10);
    rig.store.put(TAG, MAX_ID - 5n, 1);
    const buffer = rig.buffer();
    await expect(buffer.takeRanges(50)).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('never has a revision again, also when a failed load follows an ID', async () => {
    const rig = new SegmentRig(10, { prefetchRatio: 0.2 });
    const buffer = rig.buffer();
    const shownAt = new Map<number, string>();
    const note = (): void => {
      const shown = JSON.stringify(buffer.snapshot(), (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      expect(shownAt.get(buffer.revision) ?? shown).toBe(shown);
      shownAt.set(buffer.revision, shown);
    };
    note();
    buffer.tryNext();
    note();
    await rig.settle();
    note();
    for (let id = 0; id < 2; id++) {
      buffer.tryNext();
      note();
    }
    rig.store.breakDown();
    for (let id = 0; id < 3; id++) {
      buffer.tryNext();
      note();
      await rig.clock.advance(50);
      note();
    }
    expect(buffer.snapshot().failures).toBeGreaterThan(1);
  });
});

describe('DoubleBuffer, an answer of the store at the deadline of its call', () => {
  it('gives the IDs to the call or keeps them, and loses none', async () => {
    const ends = new Set<unknown>();
    for (let reactions = 0; reactions < 40; reactions++) {
      const rig = new SegmentRig(10);
      const clock = new HoldingClock();
      const buffer = new DoubleBuffer(TAG, { ...rig.context, clock });
      rig.store.hold();
      const call = watch(buffer.takeRanges(4));
      await clock.advance(rig.options.waitMs);
      rig.store.held[0]!.answer();
      for (let reaction = 0; reaction < reactions; reaction++) await Promise.resolve();
      for (const act of clock.due) act();
      await clock.advance(0);
      ends.add(call.code);
      const given = call.value ?? [];
      expect([buffer.issued, buffer.buffered]).toEqual(call.code === undefined ? [4, 0] : [0, 4]);
      expect(given).toEqual(call.code === undefined ? [{ from: 1n, to: 4n }] : []);
    }
    expect([...ends]).toEqual(['LEAF_SEGMENT_UNAVAILABLE', undefined]);
  });
});

describe('DoubleBuffer, once retired', () => {
  it('issues no ID, at whichever moment its last load arrives, and hands all of them back', async () => {
    for (const ask of ['tryNext', 'tryNextNumber', 'tryRanges'] as const) {
      const rig = new SegmentRig(10);
      const buffer = rig.buffer();
      rig.store.hold();
      const load = watch(buffer.preload());
      await rig.settle();
      const rest = watch(buffer.retire(stopping));
      rig.store.release();
      for (let reaction = 0; reaction < 40; reaction++) {
        expect(buffer[ask](1)).toBeUndefined();
        await Promise.resolve();
      }
      expect([load.settled, rest.value, buffer.issued]).toEqual([true, [{ from: 1n, to: 10n }], 0]);
    }
  });
});

describe('DoubleBuffer, overloaded', () => {
  it.each([
    [999, 'LEAF_OVERLOADED'],
    [1000, undefined],
  ] as const)(
    'refuses calls early for a second, also once the store has answered: after %d ms, %s',
    async (ms, code) => {
      const rig = new SegmentRig(10, { waitMs: 1000 });
      const buffer = rig.buffer();
      rig.store.hold();
      for (let call = 0; call < 256; call++) watch(buffer.take());
      await rig.clock.advance(500);
      const last = watch(buffer.take());
      await rig.settle();
      rig.store.release();
      await rig.settle();
      expect(last.value).toBe(1n);
      rig.store.hold();
      await rig.clock.advance(ms);
      buffer.tryRanges(buffer.buffered);
      const next = watch(buffer.take());
      await rig.clock.advance(10);
      expect(next.code).toBe(code);
    },
  );
});
