import { FakeClock } from '../clock/fake-clock';
import { LeafError, type LeafErrorOptions } from '../errors/leaf-error';
import type { LeafErrorCode } from '../errors/error-catalogue';
import { BitLayout } from './bit-layout';
import type { IssueWindow, Term } from './issue-window';
import { SnowflakeGenerator } from './snowflake-generator';
import { DEFAULT_SNOWFLAKE_OPTIONS } from './snowflake-options';

const START = 1_700_000_000_000;
const OPTIONS = { maxBackwardsMs: 5, waitMs: 50, sequenceStart: 100 };
const BITS = { timeBits: 41, workerBits: 10, sequenceBits: 2, epoch: START - 1000 };

/** A window that a test moves by hand. */
class ManualWindow implements IssueWindow {
  term: Term | undefined = { workerId: 7, floor: START - 1 };
  ceiling = Infinity;
  renewAfter = Infinity;
  refusal = new LeafError('LEAF_NOT_READY', 'no worker');
  renewals = 0;
  onRenew: () => Promise<void> = () => Promise.resolve();

  renew(): Promise<void> {
    this.renewals++;
    return this.onRenew();
  }
}

describe('SnowflakeGenerator in its window', () => {
  let clock: FakeClock;
  let window: ManualWindow;
  let ids: SnowflakeGenerator;

  beforeEach(() => {
    clock = new FakeClock(START);
    window = new ManualWindow();
    ids = generator(new BitLayout(BITS));
  });

  function generator(layout: BitLayout, options = OPTIONS): SnowflakeGenerator {
    return new SnowflakeGenerator(layout, window, clock, () => 0, options);
  }

  const times = (count: number): number[] => Array.from({ length: count }, () => offset(ids.next()));
  const offset = (id: bigint): number => ids.layout.decompose(id).timestamp - START;

  /** Every kind of call is refused with `code`. */
  async function expectRefused(code: LeafErrorCode, options: LeafErrorOptions = {}): Promise<void> {
    const refusal: unknown = expect.objectContaining({ code, ...options });
    expect([ids.tryNext(), ids.tryNextString()]).toEqual([undefined, undefined]);
    expect(() => ids.next()).toThrow(refusal as Error);
    expect(() => ids.nextString()).toThrow(refusal as Error);
    expect(ids.refusal()).toEqual(refusal);
    await expect(ids.take(1)).rejects.toEqual(refusal);
    await expect(ids.takeStrings(1)).rejects.toEqual(refusal);
  }

  describe('when the clock steps back', () => {
    it('goes on with the newest timestamp up to the limit', () => {
      ids.next();
      clock.step(-5);
      expect(ids.snapshot()).toMatchObject({ behindMs: 5 });
      expect(times(3)).toEqual([0, 0, 0]);
      expect(ids.snapshot()).toMatchObject({ issued: 4, lastTimestamp: START, behindMs: 5, backwardsSteps: 1 });
    });

    it('refuses beyond the limit and recovers automatically', async () => {
      times(2);
      clock.step(-6);
      await expectRefused('LEAF_CLOCK_BACKWARDS', { retryAfterMs: 6 });
      await clock.advance(1);
      expect(times(2)).toEqual([0, 0]);
      await clock.advance(6);
      expect(times(1)).toEqual([1]);
      expect(ids.snapshot().backwardsSteps).toBe(1);
    });

    it('refuses a blocking call that would wait for an absorbed step', () => {
      times(4);
      clock.step(-2);
      expect(ids.tryNext()).toBeUndefined();
      expect(() => ids.next()).toThrow(
        expect.objectContaining({ code: 'LEAF_CLOCK_BACKWARDS', retryAfterMs: 2 }) as Error,
      );
    });

    it('waits in take() for an absorbed step whose timestamp is used up, at most twice the offset', async () => {
      times(4);
      clock.step(-3);
      let taken: bigint[] | undefined;
      const answer = ids.take(2).then((issued) => (taken = issued));
      await clock.advance(5);
      expect(taken).toBeUndefined();
      await clock.advance(1);
      await answer;
      expect(taken?.map(offset)).toEqual([1, 1]);
    });

    it('does not wait twice for a clock that did not catch up', async () => {
      times(4);
      clock.step(-3);
      const refusal = expect(ids.take(1)).rejects.toMatchObject({ code: 'LEAF_CLOCK_BACKWARDS' });
      clock.step(-4);
      await clock.advance(6);
      await refusal;
      expect(clock.sleeping).toBe(0);
    });

    it('counts each step once, seen by a call or by a look', () => {
      for (let i = 1; i <= 3; i++) {
        ids.next();
        clock.step(-6);
        expect(ids.refusal()).toMatchObject({ code: 'LEAF_CLOCK_BACKWARDS' });
        expect(ids.tryNext()).toBeUndefined();
        expect(ids.snapshot().backwardsSteps).toBe(i);
        clock.step(7);
        ids.next();
      }
    });
  });

  describe('at the floor', () => {
    it('issues nothing up to it, and says when it will', async () => {
      window.term = { workerId: 7, floor: START + 2 };
      await expectRefused('LEAF_NOT_READY', { retryAfterMs: 3 });
      clock.step(2);
      await expectRefused('LEAF_NOT_READY', { retryAfterMs: 1 });
      clock.step(1);
      expect(times(1)).toEqual([3]);
      expect(ids.snapshot()).toMatchObject({ issued: 1, backwardsSteps: 0 });
    });

    it('has its window extended while it waits, and goes on without a gap', async () => {
      window.term = { workerId: 7, floor: START + 2 };
      window.ceiling = START + 3;
      window.renewAfter = START;
      window.onRenew = async () => {
        await clock.sleep(2);
        window.ceiling = START + 100;
      };
      clock.step(2);
      await expectRefused('LEAF_NOT_READY');
      await clock.advance(2);
      expect(times(1)).toEqual([4]);
    });
  });

  describe('at the ceiling', () => {
    it('issues up to it and no further', async () => {
      window.ceiling = START + 1;
      clock.step(1);
      expect(times(4)).toEqual([1, 1, 1, 1]);
      clock.step(1);
      await expectRefused('LEAF_LEASE_EXPIRED', { retryAfterMs: 1000 });
      expect(window.renewals).toBeGreaterThan(0);
    });

    it('does not catch up beyond it', () => {
      window.ceiling = START + 1;
      times(4);
      clock.step(5);
      expect(times(4)).toEqual([1, 1, 1, 1]);
      expect(ids.tryNext()).toBeUndefined();
    });

    it('goes on in take() when the renewal helped', async () => {
      window.ceiling = START - 1;
      window.onRenew = async () => {
        await clock.sleep(10);
        window.ceiling = START + 100;
      };
      const answer = ids.take(2);
      await clock.advance(10);
      expect((await answer).map(offset)).toEqual([10, 10]);
    });

    it('refuses in take() when the renewal did not help', async () => {
      window.ceiling = START - 1;
      await expect(ids.take(2)).rejects.toMatchObject({ code: 'LEAF_LEASE_EXPIRED' });
    });

    it('waits for the renewal no longer than the wait limit', async () => {
      window.ceiling = START - 1;
      window.onRenew = () => clock.sleep(3_600_000);
      const refusal = expect(ids.take(2)).rejects.toMatchObject({ code: 'LEAF_LEASE_EXPIRED' });
      await clock.advance(OPTIONS.waitMs);
      await refusal;
    });

    it('requests a renewal before it, and keeps issuing', () => {
      window.renewAfter = START;
      times(2);
      expect(window.renewals).toBe(0);
      clock.step(1);
      expect(times(3)).toEqual([1, 1, 1]);
      expect(window.renewals).toBe(1);
    });
  });

  describe('when another worker was acquired', () => {
    it('goes on under it above its floor, though the millisecond has sequences left', () => {
      const before = ids.next();
      window.term = { workerId: 9, floor: START };
      expect(ids.tryNext()).toBeUndefined();
      expect(ids.refusal()).toMatchObject({ code: 'LEAF_NOT_READY', retryAfterMs: 1 });
      clock.step(1);
      const after = ids.next();
      expect(after).toBeGreaterThan(before);
      expect(ids.layout.decompose(after)).toMatchObject({ workerId: 9, timestamp: START + 1 });
    });

    it('does not go back to the time before when the clock does', () => {
      clock.step(3);
      ids.next();
      window.term = { workerId: 9, floor: START + 3 };
      clock.step(-2);
      expect(ids.tryNext()).toBeUndefined();
    });
  });

  describe('asked for its refusal', () => {
    it('changes nothing: it counts no clock step and renews nothing', () => {
      ids.next();
      window.renewAfter = 0;
      clock.step(-100);
      expect(ids.refusal()).toMatchObject({ code: 'LEAF_CLOCK_BACKWARDS' });
      clock.step(100);
      expect(ids.refusal()).toBeUndefined();
      expect(ids.snapshot().backwardsSteps).toBe(0);
      expect(window.renewals).toBe(0);
    });
  });

  describe('when the lease is lost', () => {
    it('stops within the millisecond, permanently', async () => {
      times(1);
      window.term = undefined;
      window.refusal = new LeafError('LEAF_LEASE_LOST', 'gone');
      await expectRefused('LEAF_LEASE_LOST');
      expect(ids.refusal()).toBe(window.refusal);
      clock.step(1);
      await expectRefused('LEAF_LEASE_LOST');
      expect(ids.snapshot()).toMatchObject({ issued: 1, lastTimestamp: START });
    });

    it('stops a batch that waits', async () => {
      const refusal = expect(ids.take(5)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
      window.term = undefined;
      window.refusal = new LeafError('LEAF_LEASE_LOST', 'gone');
      await clock.advance(1);
      await refusal;
    });
  });

  describe('at the end of the epoch', () => {
    const lastAt = (end: number): BitLayout => new BitLayout({ ...BITS, timeBits: 31, epoch: end - 2 ** 31 + 1 });

    it('refuses the first time that does not fit, and wraps nothing', async () => {
      ids = generator(lastAt(START));
      expect(times(4)).toEqual([0, 0, 0, 0]);
      await clock.advance(1);
      await expectRefused('LEAF_EPOCH_EXHAUSTED');
      await clock.advance(100_000);
      await expectRefused('LEAF_EPOCH_EXHAUSTED');
      expect(ids.snapshot()).toMatchObject({ issued: 4, lastTimestamp: START });
    });

    it('refuses what does not fit any more of a batch', async () => {
      ids = generator(lastAt(START));
      const refusal = expect(ids.take(5)).rejects.toMatchObject({ code: 'LEAF_EPOCH_EXHAUSTED' });
      await clock.advance(1);
      await refusal;
    });

    it('refuses a time before the epoch', async () => {
      window.term = { workerId: 7, floor: 0 };
      ids = generator(new BitLayout({ ...BITS, epoch: START + 1 }));
      await expectRefused('LEAF_EPOCH_EXHAUSTED');
      clock.step(1);
      expect(times(1)).toEqual([1]);
    });
  });

  it('absorbs 5 ms and waits for one second by default', async () => {
    ids = generator(new BitLayout(BITS), DEFAULT_SNOWFLAKE_OPTIONS);
    times(1);
    clock.step(-5);
    expect(times(1)).toEqual([0]);
    clock.step(-1);
    expect(ids.tryNext()).toBeUndefined();
    clock.step(10);
    const taking = expect(ids.take(8000)).rejects.toMatchObject({ code: 'LEAF_OVERLOADED' });
    await clock.advance(999);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    await taking;
  });

  it('counts every step back, also those that return to the same millisecond', () => {
    for (let i = 0; i < 3; i++) {
      ids.tryNext();
      clock.step(-10);
      ids.tryNext();
      clock.step(10);
    }
    expect(ids.snapshot().backwardsSteps).toBe(3);
  });

  it('goes on when an absorbed step ends level with the newest ID', async () => {
    times(4);
    clock.step(-2);
    const taking = ids.take(1);
    clock.step(-2);
    await clock.advance(6);
    expect((await taking).map(offset)).toEqual([1]);
  });
});
