import { FakeClock } from '../clock/fake-clock';
import { LeafError } from '../errors/leaf-error';
import type { RandomSource } from '../util/random';
import { BitLayout, DEFAULT_EPOCH, defaultLayout, type SnowflakeParts } from './bit-layout';
import type { IssueWindow } from './issue-window';
import { SnowflakeGenerator } from './snowflake-generator';

const START = 1_700_000_000_000;
const OPTIONS = { maxBackwardsMs: 5, waitMs: 50, sequenceStart: 100 };

/** A wall clock that never moves, as under a suspended time service. */
class FrozenClock extends FakeClock {
  override now(): number {
    return START;
  }
}

/** Lets more than the requested time pass in a pause, or steps the wall clock during it. */
class DisturbedClock extends FakeClock {
  constructor(
    private readonly extraMs: number,
    private readonly stepMs: number,
  ) {
    super(START);
  }

  override pause(ms: number): void {
    super.pause(ms + this.extraMs);
    this.step(this.stepMs);
  }
}

function windowAlways(): IssueWindow {
  return {
    term: { workerId: 39, floor: START - 1 },
    ceiling: Infinity,
    renewAfter: Infinity,
    refusal: new LeafError('LEAF_NOT_READY', 'no worker'),
    renew: () => Promise.resolve(),
  };
}

describe('SnowflakeGenerator', () => {
  /** Four IDs a millisecond. */
  const small = new BitLayout({ timeBits: 41, workerBits: 10, sequenceBits: 2, epoch: DEFAULT_EPOCH });
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock(START);
  });

  function generator(layout = small, on: FakeClock = clock, random: RandomSource = () => 0): SnowflakeGenerator {
    return new SnowflakeGenerator(layout, windowAlways(), on, random, OPTIONS);
  }

  /** Offset from START and sequence of each ID. */
  function places(ids: readonly (bigint | string | undefined)[], layout = small): [number, number][] {
    return ids.map((id) => {
      const { timestamp, sequence }: SnowflakeParts = layout.decompose(BigInt(id!));
      return [timestamp - START, sequence];
    });
  }

  const many = <T>(count: number, next: () => T): T[] => Array.from({ length: count }, next);

  it('composes worker, time and sequence', () => {
    const ids = generator(defaultLayout());
    expect(defaultLayout().decompose(ids.next())).toEqual({ timestamp: START, workerId: 39, sequence: 0 });
    expect(defaultLayout().decompose(ids.tryNext()!)).toEqual({ timestamp: START, workerId: 39, sequence: 1 });
  });

  it('issues every sequence of a millisecond from the random start on', () => {
    const bounds: number[] = [];
    const ids = generator(defaultLayout(), clock, (bound) => {
      bounds.push(bound);
      return 57;
    });
    const issued = many(4096 - 57, () => ids.tryNext());
    expect(places(issued, defaultLayout())).toEqual(many(4096 - 57, () => 0).map((ms, i) => [ms, 57 + i]));
    expect(ids.tryNext()).toBeUndefined();
    expect(bounds).toEqual([100]);
  });

  it('starts at 0 when it is told to', () => {
    const bounds: number[] = [];
    const random = (bound: number): number => bounds.push(bound) - 1;
    const options = { ...OPTIONS, sequenceStart: 0 };
    const ids = new SnowflakeGenerator(defaultLayout(), windowAlways(), clock, random, options);
    expect(places([ids.tryNext()], defaultLayout())).toEqual([[0, 0]]);
    expect(bounds).toEqual([1]);
  });

  it('starts a short sequence at any number of it', () => {
    const bounds: number[] = [];
    const ids = generator(small, clock, (bound) => {
      bounds.push(bound);
      return bound - 1;
    });
    expect(places([ids.tryNext()])).toEqual([[0, 3]]);
    expect(ids.tryNext()).toBeUndefined();
    expect(bounds).toEqual([4]);
  });

  it('restarts the sequence in each millisecond', () => {
    const starts = [2, 1, 0];
    const ids = generator(small, clock, () => starts.shift() ?? 0);
    const issued = many(3, () => {
      const id = ids.tryNext();
      clock.step(1);
      return id;
    });
    expect(places(issued)).toEqual([
      [0, 2],
      [1, 1],
      [2, 0],
    ]);
  });

  it('has none without waiting when the millisecond is used up', () => {
    const ids = generator();
    many(4, () => ids.tryNext());
    expect([ids.tryNext(), ids.tryNextString()]).toEqual([undefined, undefined]);
    expect(ids.snapshot().backwardsSteps).toBe(0);
    clock.step(1);
    expect(places([ids.tryNext()])).toEqual([[1, 0]]);
  });

  it('blocks for the next millisecond in next()', () => {
    const ids = generator();
    expect(places(many(9, () => ids.next()))).toEqual([
      ...many(4, () => 0).map((ms, i) => [ms, i]),
      ...many(4, () => 1).map((ms, i) => [ms, i]),
      [2, 0],
    ]);
    expect(clock.monotonic()).toBeLessThan(2.2);
  });

  it('blocks for no more than a millisecond while the clock stands still', () => {
    const frozen = new FrozenClock(START);
    const ids = generator(small, frozen);
    many(4, () => ids.next());
    expect(() => ids.next()).toThrow(expect.objectContaining({ code: 'LEAF_OVERLOADED', retryAfterMs: 1 }) as Error);
    expect(frozen.monotonic()).toBeGreaterThanOrEqual(1);
    expect(frozen.monotonic()).toBeLessThanOrEqual(1.1);
    expect(() => ids.nextString()).toThrow(expect.objectContaining({ code: 'LEAF_OVERLOADED' }) as Error);
  });

  it('goes on after a pause in which the process was suspended', () => {
    const ids = generator(small, new DisturbedClock(5000, 0));
    expect(places(many(5, () => ids.next())).at(-1)).toEqual([5000, 0]);
  });

  it('refuses when the clock steps back while it blocks', () => {
    const ids = generator(small, new DisturbedClock(0, -3));
    many(4, () => ids.next());
    expect(() => ids.next()).toThrow(expect.objectContaining({ code: 'LEAF_CLOCK_BACKWARDS' }) as Error);
  });

  it('takes many over several milliseconds without blocking', async () => {
    const ids = generator();
    const answer = ids.take(10);
    await clock.advance(2);
    const issued = await answer;
    expect(places(issued)).toEqual(many(10, () => 0).map((_, i) => [Math.floor(i / 4), i % 4]));
    expect(clock.monotonic()).toBe(2);
    expect(clock.sleeping).toBe(0);
  });

  it('takes no further than to the end of the sequence, wherever it began', async () => {
    const ids = generator(small, clock, () => 2);
    const answer = ids.take(5);
    await clock.advance(2);
    expect(places(await answer)).toEqual([
      [0, 2],
      [0, 3],
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
  });

  it('starts a millisecond at random, unless the one before is used up', async () => {
    const ids = generator(small, clock, () => 2);
    const first = many(2, () => ids.next());
    await clock.advance(1);
    const full = many(4, () => ids.tryNext()!);
    await clock.advance(20);
    expect(places([...first, ...full, ids.next()])).toEqual([
      [0, 2],
      [0, 3],
      [1, 0],
      [1, 1],
      [1, 2],
      [1, 3],
      [21, 2],
    ]);
  });

  it('takes none when none is wanted', async () => {
    const ids = generator();
    await expect(ids.take(0)).resolves.toStrictEqual([]);
    expect(ids.snapshot().issued).toBe(0);
  });

  it('takes exactly the requested IDs and continues after them', async () => {
    const ids = generator(defaultLayout());
    const first = await ids.take(5);
    const second = await ids.takeStrings(3);
    expect(places([...first, ...second, ids.next()], defaultLayout())).toEqual(
      many(9, () => 0).map((ms, i) => [ms, i]),
    );
  });

  it('takes for two callers at once without a repeat', async () => {
    const ids = generator();
    const answers = Promise.all([ids.take(9), ids.take(9)]);
    await clock.advance(10);
    const issued = (await answers).flat();
    expect(new Set(issued).size).toBe(18);
  });

  it('does not wait indefinitely while the clock stands still', async () => {
    const frozen = new FrozenClock(START);
    const answer = generator(small, frozen).take(5);
    const refusal = expect(answer).rejects.toMatchObject({ code: 'LEAF_OVERLOADED' });
    await frozen.advance(OPTIONS.waitMs);
    await refusal;
    expect(frozen.sleeping).toBe(0);
  });

  it('refuses a batch that the wait limit does not allow', async () => {
    const answer = generator().take(4 * (OPTIONS.waitMs + 2));
    const refusal = expect(answer).rejects.toMatchObject({ code: 'LEAF_OVERLOADED' });
    await clock.advance(OPTIONS.waitMs + 1);
    await refusal;
  });

  it('uses up milliseconds missed under saturation, up to eight back', () => {
    const ids = generator();
    many(4, () => ids.tryNext());
    clock.step(8);
    const issued = many(32, () => ids.tryNext());
    expect(places(issued)).toEqual(many(32, () => 0).map((_, i) => [1 + Math.floor(i / 4), i % 4]));
    expect(ids.tryNext()).toBeUndefined();
  });

  it('uses up a missed millisecond even if the clock advances', () => {
    const ids = generator();
    many(4, () => ids.tryNext());
    clock.step(3);
    const issued = many(5, () => {
      const id = ids.tryNext();
      clock.step(1);
      return id;
    });
    expect(places(issued)).toEqual([...many(4, () => 1).map((ms, i) => [ms, i]), [2, 0]]);
  });

  it('gives up milliseconds further back than eight', () => {
    const ids = generator();
    many(4, () => ids.tryNext());
    clock.step(9);
    expect(places(many(5, () => ids.tryNext() ?? ids.next()))).toEqual([
      ...many(4, () => 9).map((ms, i) => [ms, i]),
      [10, 0],
    ]);
  });

  it('lets go of a millisecond it catches up on when that is too far back', () => {
    const ids = generator();
    many(4, () => ids.tryNext());
    clock.step(4);
    expect(places([ids.tryNext()])).toEqual([[1, 0]]);
    clock.step(6);
    expect(places([ids.tryNext()])).toEqual([[10, 0]]);
  });

  it('never trails the clock when idle', () => {
    const ids = generator();
    const issued = [];
    for (const ms of [0, 1, 5, 8, 9]) {
      clock.step(ms);
      issued.push(ids.tryNext(), ids.tryNext());
    }
    expect(places(issued).map(([ms]) => ms)).toEqual([0, 0, 1, 1, 6, 6, 14, 14, 23, 23]);
  });

  it('writes the same IDs as text', async () => {
    const layouts = [
      small,
      defaultLayout(),
      new BitLayout({ timeBits: 41, workerBits: 10, sequenceBits: 2, epoch: START }),
    ];
    for (const layout of layouts) {
      const numbers = new FakeClock(START);
      const texts = new FakeClock(START);
      const asNumbers = generator(layout, numbers, (bound) => bound >> 1);
      const asTexts = generator(layout, texts, (bound) => bound >> 1);
      for (let i = 0; i < 20; i++) {
        expect(asTexts.nextString()).toBe(String(asNumbers.next()));
        expect(asTexts.tryNextString()).toEqual(asNumbers.tryNext()?.toString());
        const taken = Promise.all([asTexts.takeStrings(2), asNumbers.take(2)]);
        for (const each of [numbers, texts]) await each.advance(1);
        const [strings, bigints] = await taken;
        expect(strings).toEqual(bigints.map(String));
        for (const each of [numbers, texts]) each.step(i % 3);
      }
    }
  });

  it('counts what it has issued', async () => {
    const ids = generator(small, clock, (bound) => bound >> 1);
    expect(ids.snapshot()).toEqual({
      workerId: 39,
      issued: 0,
      lastTimestamp: -1,
      behindMs: 0,
      backwardsSteps: 0,
    });
    ids.next();
    expect(ids.snapshot().issued).toBe(1);
    many(4, () => ids.next());
    const taken = ids.take(6);
    await clock.advance(5);
    await taken;
    ids.tryNextString();
    ids.refusal();
    expect(ids.snapshot()).toMatchObject({ issued: 12, lastTimestamp: ids.lastTimestamp, behindMs: 0 });
  });

  it('says that it could issue, without issuing', () => {
    const ids = generator();
    expect(ids.refusal()).toBeUndefined();
    expect(ids.snapshot()).toMatchObject({ issued: 0, lastTimestamp: -1 });
    many(4, () => ids.next());
    expect(ids.refusal()).toBeUndefined();
    clock.step(-3);
    expect(ids.refusal()).toBeUndefined();
    clock.step(-3);
    expect(ids.refusal()).toBeInstanceOf(LeafError);
  });
});
