import { type IdRange, LeafError, MAX_ID, PLAIN_TAG } from '@leaf-ids/core';
import { SegmentRig, stopping, TAG } from '../../../../../test/support/fakes/segment-rig';
import { type Watched, watch } from '../../../../../test/support/watch';
import { MAX_IN_FLIGHT, StrictTag } from './strict-tag';
import { TagSources } from '../periodic/tag-sources';
import type { TagSource } from '../allocation/tag-source';
import { MAX_WAITING } from '../allocation/wait-queue';

const STRICT = { ...PLAIN_TAG, order: 'strict' as const };

function values<T>(watched: readonly Watched<T>[]): (T | undefined)[] {
  return watched.map(({ value }) => value);
}

describe('StrictTag', () => {
  let rig: SegmentRig;
  let sources: TagSources;
  let tag: TagSource;

  beforeEach(() => {
    rig = new SegmentRig(1000);
    sources = new TagSources(rig.context);
    tag = sources.open({ tag: TAG, kind: STRICT }, 0n);
  });

  /** `count` calls, one after the other. */
  function calls(count: number, of = tag): Watched<bigint>[] {
    return Array.from({ length: count }, () => watch(of.take()));
  }

  function sizes(): number[] {
    return rig.store.granted.map(({ from, to }) => Number(to - from) + 1);
  }

  it('takes as many IDs as calls wait, in one statement, and buffers none', async () => {
    const ids = calls(3);
    const range = watch(tag.takeRanges(5));
    await rig.settle();
    expect(values(ids)).toEqual([1n, 2n, 3n]);
    expect(range.value).toEqual([{ from: 4n, to: 8n }]);
    expect(rig.store.maxId(TAG)).toBe(9n);
    expect(rig.store.count('allocate')).toBe(1);
    expect(tag.tryNext()).toBeUndefined();
    expect(tag.tryNextNumber()).toBeUndefined();
    expect(tag.tryRanges(1)).toBeUndefined();
    expect(tag.step).toBe(8);
    await expect(tag.preload()).resolves.toBeUndefined();
    expect(rig.store.count('allocate')).toBe(1);
  });

  it('issues no ID of a statement to calls that started after it was sent', async () => {
    rig.store.hold();
    const first = calls(1);
    await rig.settle();
    const late = calls(2);
    await rig.settle();
    expect(rig.store.held).toHaveLength(2);
    rig.store.held[0]!.apply();
    // Another server, whose call returns before this one.
    rig.store.rows.get(TAG)!.maxId = 101n;
    rig.store.held[0]!.answer();
    await rig.settle();
    expect(values(first)).toEqual([1n]);
    expect(values(late)).toEqual([undefined, undefined]);
    rig.store.release();
    await rig.settle();
    expect(values(late)).toEqual([101n, 102n]);
    expect(sizes()).toEqual([1, 2]);
  });

  it('has up to four statements in flight, and the calls behind them share the next', async () => {
    rig.store.hold();
    const ids: Watched<bigint>[] = [];
    for (let call = 0; call < 7; call++) {
      ids.push(...calls(1));
      await rig.settle();
    }
    expect(rig.store.held).toHaveLength(MAX_IN_FLIGHT);
    rig.store.held[1]!.answer();
    await rig.settle();
    expect(values(ids)).toEqual([undefined, 1n, ...Array<undefined>(5).fill(undefined)]);
    expect(rig.store.statements.map(([request]) => request!.size)).toEqual([1, 1, 1, 1, 3]);
    rig.store.release();
    await rig.settle();
    expect(values(ids).every((id) => id !== undefined)).toBe(true);
    expect(new Set(values(ids)).size).toBe(7);
  });

  it('takes the results of overlapping statements in any order', async () => {
    rig.store.hold();
    const ids: Watched<bigint>[] = [];
    for (let call = 0; call < 3; call++) {
      ids.push(...calls(1));
      await rig.settle();
    }
    const [first, second, third] = rig.store.held;
    for (const held of [first, second, third]) held!.apply();
    for (const held of [third, first, second]) {
      held!.answer();
      await rig.settle();
    }
    expect(values(ids)).toEqual([1n, 2n, 3n]);
    expect(rig.totals.backwards).toBe(0);
    expect(tag.highest).toBe(3n);
    rig.store.release();
    rig.store.rows.get(TAG)!.maxId = 2n;
    const [next] = calls(1);
    await rig.clock.advance(50);
    expect(next!.value).toBe(4n);
    expect(rig.totals.backwards).toBe(1);
  });

  it('refuses IDs that an overlapping statement has given, after moving the row', async () => {
    rig.store.hold();
    const early = calls(1);
    await rig.settle();
    const late = calls(1);
    await rig.settle();
    const [first, second] = rig.store.held;
    second!.answer();
    await rig.settle();
    expect(values(late)).toEqual([1n]);
    rig.store.rows.get(TAG)!.maxId = 1n;
    rig.store.release();
    first!.answer();
    await rig.clock.advance(100);
    expect(values(early)).toEqual([2n]);
    expect(rig.totals.backwards).toBe(1);
  });

  it('refuses the calls of a statement that fails for an unexpected reason', async () => {
    rig.store.failNext(1, new TypeError('broken'));
    const ids = calls(2);
    await rig.settle();
    expect(ids.map(({ code }) => code)).toEqual(['LEAF_SEGMENT_UNAVAILABLE', 'LEAF_SEGMENT_UNAVAILABLE']);
  });

  it('requests nothing without a call', () => {
    expect((tag as StrictTag).begin()).toBeUndefined();
  });

  it('refuses no call of a burst that blocks the event loop for longer than the wait limit', async () => {
    rig.store.hold();
    const early = calls(1);
    await rig.settle();
    rig.store.release();
    await rig.settle();
    await rig.clock.advance(950);
    rig.store.hold();
    const ids = calls(1000);
    rig.clock.pause(1001);
    await rig.clock.advance(500);
    expect(ids.some(({ settled }) => settled)).toBe(false);
    rig.store.release();
    await rig.settle();
    expect(values([...early, ...ids])).toEqual(Array.from({ length: 1001 }, (_, index) => BigInt(index + 1)));
  });

  it('leaves a gap for a call that timed out, and never issues its ID', async () => {
    rig.store.hold();
    const [gone] = calls(1);
    await rig.clock.advance(1);
    const [next] = calls(1);
    await rig.clock.advance(998);
    expect(gone!.settled).toBe(false);
    await rig.clock.advance(1);
    expect(gone!.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    expect(next!.settled).toBe(false);
    rig.store.release();
    await rig.settle();
    expect(next!.value).toBe(2n);
    expect(tag.issued).toBe(1);
  });

  it('requests no IDs for calls that timed out before their statement', async () => {
    rig.store.hold();
    calls(1);
    await rig.settle();
    for (let call = 1; call < MAX_IN_FLIGHT; call++) {
      calls(1);
      await rig.settle();
    }
    const [gone] = calls(1);
    await rig.clock.advance(1000);
    expect(gone!.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    rig.store.release();
    await rig.settle();
    expect(sizes()).toEqual(Array(MAX_IN_FLIGHT).fill(1));
    const [next] = calls(1);
    await rig.settle();
    expect(next!.value).toBe(BigInt(MAX_IN_FLIGHT + 1));
  });

  it('allocates again after a lost reply, and never uses its IDs', async () => {
    rig.store.loseAnswers(1);
    const ids = calls(2);
    await rig.settle();
    const later = calls(1);
    await rig.clock.advance(50);
    expect(values([...ids, ...later])).toEqual([3n, 4n, 5n]);
    expect(rig.store.lost).toEqual([expect.objectContaining({ from: 1n, to: 2n })]);
    expect(rig.totals.retries).toBe(1);
    expect(rig.reports).toEqual([TAG]);
  });

  it('refuses each call of an outage at its wait limit, and recovers automatically', async () => {
    rig.store.breakDown();
    const early = calls(1);
    await rig.clock.advance(500);
    const late = calls(1);
    await rig.clock.advance(500);
    expect(early[0]!.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    expect(early[0]!.error).toMatchObject({ cause: expect.objectContaining({ code: 'LEAF_STORE_UNAVAILABLE' }) });
    expect(late[0]!.settled).toBe(false);
    rig.store.heal();
    await rig.clock.advance(499);
    expect(late[0]!.value).toBe(1n);
  });

  it.each(['LEAF_TAG_NOT_FOUND', 'LEAF_TAG_ROW_INVALID'] as const)(
    'refuses with %s immediately, from the cache',
    async (code) => {
      rig.store.failNext(1, new LeafError(code, 'No.'));
      const ids = calls(2);
      await rig.settle();
      expect(ids.map((call) => call.code)).toEqual([code, code]);
      await expect(tag.take()).rejects.toMatchObject({ code });
      expect(rig.store.count('allocate')).toBe(1);
      await rig.clock.advance(1000);
      expect(await tag.take()).toBe(1n);
    },
  );

  it('serves the calls for which an exhausted tag has enough IDs left', async () => {
    rig.store.put(TAG, MAX_ID - 3n, 1000, STRICT);
    const one = calls(1);
    const many = watch(tag.takeRanges(5));
    const last = watch(tag.takeRanges(2));
    const none = calls(1);
    await rig.settle();
    expect(values(one)).toEqual([MAX_ID - 3n]);
    expect(many.code).toBe('LEAF_TAG_EXHAUSTED');
    expect(last.value).toEqual([{ from: MAX_ID - 2n, to: MAX_ID - 1n }]);
    expect(none[0]!.code).toBe('LEAF_TAG_EXHAUSTED');
    rig.store.put(TAG, 1n, 1000, STRICT);
  });

  it('refuses a range that is not above all earlier ones, after moving the row', async () => {
    calls(5);
    await rig.settle();
    rig.store.rows.get(TAG)!.maxId = 2n;
    const [next] = calls(1);
    await rig.clock.advance(50);
    expect(next!.value).toBe(6n);
    expect(rig.totals.backwards).toBe(1);
  });

  it('sends no second statement of a tag beside one that is repeated after a failure', async () => {
    rig.store.hold();
    const failed = calls(1);
    await rig.settle();
    rig.store.held[0]!.fail();
    await rig.clock.advance(50);
    const later = calls(2);
    await rig.settle();
    expect(rig.store.statements).toHaveLength(2);
    rig.store.release();
    await rig.settle();
    expect(values([...failed, ...later])).toEqual([1n, 2n, 3n]);
  });

  it('makes one attempt at a time after several statements have failed', async () => {
    rig.store.hold();
    for (let statement = 0; statement < 3; statement++) {
      calls(1);
      await rig.settle();
    }
    for (const held of [...rig.store.held]) held.fail();
    await rig.settle();
    // Past the pauses after all of the failures.
    for (let turn = 0; turn < 10; turn++) {
      calls(1);
      await rig.clock.advance(100);
    }
    expect(rig.store.statements).toHaveLength(4);
  });

  it('sends nothing in the pause after a failure, also if it was to be sent next', async () => {
    rig.store.hold();
    for (let statement = 0; statement <= MAX_IN_FLIGHT; statement++) {
      calls(1);
      await rig.settle();
    }
    expect(rig.store.statements).toHaveLength(MAX_IN_FLIGHT);
    rig.store.held[0]!.fail();
    await rig.settle();
    expect(rig.store.statements).toHaveLength(MAX_IN_FLIGHT);
    await rig.clock.advance(100);
    expect(rig.store.statements).toHaveLength(MAX_IN_FLIGHT + 1);
  });

  it('issues no ID of a range smaller than its batch, as a tag gives that is now interleaved', async () => {
    rig.store.put(TAG, 1n, 1000, { ...PLAIN_TAG, interleave: { of: 2, remainder: 0, block: 2 } });
    const five = calls(5);
    await rig.clock.advance(rig.options.waitMs);
    expect(five.map(({ code }) => code)).toEqual(Array(5).fill('LEAF_SEGMENT_UNAVAILABLE'));
    expect(tag.issued).toBe(0);
  });

  it('limits the number of waiting calls', async () => {
    rig.store.hold();
    const waiting = calls(MAX_WAITING);
    const [refused] = calls(1);
    await rig.settle();
    expect(refused!.code).toBe('LEAF_OVERLOADED');
    rig.store.release();
    await rig.settle();
    expect(waiting.at(-1)!.value).toBe(BigInt(MAX_WAITING));
    expect(await tag.take()).toBe(BigInt(MAX_WAITING + 1));
  });

  it('takes at most a million per statement, unless a single call requests more', async () => {
    const ranges = [600_000, 600_000, 1_000_000].map((count) => watch(tag.takeRanges(count)));
    await rig.settle();
    expect(sizes()).toEqual([600_000, 600_000, 1_000_000]);
    expect(values(ranges).flatMap((range) => range!).map(({ from }: IdRange) => from)).toEqual([1n, 600_001n, 1_200_001n]); // prettier-ignore
  });

  it('sends no second statement beside one that is repeated, although more calls were queued before', async () => {
    rig.store.hold();
    for (let call = 0; call <= MAX_IN_FLIGHT; call++) {
      calls(1);
      await rig.settle();
    }
    rig.store.held[0]!.fail();
    await rig.clock.advance(50);
    expect(rig.store.statements).toHaveLength(MAX_IN_FLIGHT + 1);
    const later = calls(1);
    rig.store.held[0]!.answer();
    await rig.settle();
    expect(rig.store.statements).toHaveLength(MAX_IN_FLIGHT + 1);
    rig.store.release();
    await rig.settle();
    expect(later[0]!.value).toBe(BigInt(MAX_IN_FLIGHT + 2));
  });

  it('waits for all statements in flight when it is retired', async () => {
    rig.store.hold();
    for (let statement = 0; statement < 2; statement++) {
      calls(1);
      await rig.settle();
    }
    const rest = watch(tag.retire(stopping));
    rig.store.held[1]!.answer();
    await rig.settle();
    expect(rest.settled).toBe(false);
    rig.store.held[0]!.answer();
    await rig.settle();
    expect(rest.value).toStrictEqual([]);
  });

  it('changes its revision with each statement and each result, and never returns to an earlier one', async () => {
    rig.store.hold();
    const seen = [{ revision: tag.revision, loading: tag.snapshot().loading }];
    const note = async (): Promise<void> => {
      await rig.settle();
      seen.push({ revision: tag.revision, loading: tag.snapshot().loading });
    };
    for (let statement = 0; statement < 3; statement++) {
      calls(1);
      await note();
    }
    for (let statement = 0; statement < 3; statement++) {
      rig.store.held[0]!.answer();
      await note();
    }
    const revisions = seen.map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect(seen.map(({ loading }) => loading)).toEqual([false, true, true, true, true, true, false]);
  });

  it('refuses all calls once retired, and waits for the statement in flight', async () => {
    rig.store.hold();
    const under = calls(1);
    await rig.settle();
    const waiting = calls(1);
    const rest = watch(tag.retire(stopping));
    const after = calls(1);
    await rig.settle();
    expect([...under, ...waiting, ...after].map(({ code }) => code)).toEqual(Array(3).fill('LEAF_NOT_READY'));
    expect(rest.settled).toBe(false);
    rig.store.release();
    await rig.settle();
    expect(rest.value).toStrictEqual([]);
    expect(tag.issued).toBe(0);
    expect(rig.store.count('allocate')).toBe(1);
    expect(rig.clock.sleeping).toBe(0);
  });

  it('returns a snapshot', async () => {
    const before = tag.revision;
    calls(3);
    await rig.settle();
    expect(tag.revision).not.toBe(before);
    expect(tag.snapshot()).toMatchObject({
      order: 'strict',
      issued: 3,
      buffered: 0,
      current: undefined,
      next: undefined,
      spare: [],
      loads: 1,
      step: 3,
    });
    expect(tag.highest).toBe(3n);
    expect(rig.totals.loads).toBe(1);
  });

  describe('with other tags in one database', () => {
    let other: TagSource;

    beforeEach(() => {
      rig.store.put('invoice', 500n, 1000, STRICT);
      other = sources.open({ tag: 'invoice', kind: STRICT }, 0n);
    });

    it('shares statements', async () => {
      const first = [...calls(2), ...calls(1, other)];
      await rig.settle();
      expect(values(first)).toEqual([1n, 2n, 500n]);
      rig.store.hold();
      for (let call = 0; call < MAX_IN_FLIGHT; call++) {
        calls(1);
        await rig.settle();
      }
      const waiting = [...calls(2, other), ...calls(1)];
      await rig.settle();
      expect(rig.store.statements).toHaveLength(1 + MAX_IN_FLIGHT);
      rig.store.release();
      await rig.settle();
      expect(values(waiting)).toEqual([501n, 502n, BigInt(3 + MAX_IN_FLIGHT)]);
      expect(rig.store.statements.at(-1)).toEqual(expect.arrayContaining([{ tag: TAG, size: 1 }, { tag: 'invoice', size: 2 }])); // prettier-ignore
    });

    it('sends a tag whose allocations fail separately', async () => {
      rig.store.hold();
      const failing = calls(1);
      await rig.settle();
      rig.store.held[0]!.fail();
      await rig.clock.advance(50);
      expect(rig.store.held).toHaveLength(1);
      const fine = calls(1, other);
      await rig.settle();
      rig.store.held.find((call) => call.tag === 'invoice')!.answer();
      await rig.settle();
      expect(values(fine)).toEqual([500n]);
      expect(failing[0]!.settled).toBe(false);
      rig.store.release();
      await rig.settle();
      expect(values(failing)).toEqual([1n]);
    });

    it('sends a tag whose allocations fail alone, also while all other statements wait', async () => {
      rig.store.hold();
      const failing = calls(1);
      await rig.settle();
      rig.store.held[0]!.fail();
      await rig.settle();
      for (let call = 0; call <= MAX_IN_FLIGHT; call++) {
        calls(1, other);
        await rig.settle();
      }
      expect(rig.store.statements).toHaveLength(1 + MAX_IN_FLIGHT);
      await rig.clock.advance(50);
      expect(rig.store.statements.slice(1 + MAX_IN_FLIGHT)).toEqual([[{ tag: TAG, size: 1 }]]);
      rig.store.release();
      await rig.settle();
      expect(values(failing)).toEqual([1n]);
    });

    it('has at most 50 tags in a statement', async () => {
      const tags = Array.from({ length: 51 }, (_, n) => `tag-${n}`);
      for (const name of tags) rig.store.put(name, 1n, 1000, STRICT);
      const ids = tags.map((name) => watch(sources.open({ tag: name, kind: STRICT }, 0n).take()));
      await rig.settle();
      expect(values(ids)).toEqual(tags.map(() => 1n));
      expect(rig.store.statements.map(({ length }) => length)).toEqual([50, 1]);
    });

    it('a refused tag does not affect the others', async () => {
      rig.store.rows.delete('invoice');
      const both = [...calls(1), ...calls(1, other)];
      await rig.settle();
      expect(both.map(({ value, code }) => value ?? code)).toEqual([1n, 'LEAF_TAG_NOT_FOUND']);
    });
  });
});
