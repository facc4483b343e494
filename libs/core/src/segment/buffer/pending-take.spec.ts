import { FakeClock } from '../../clock/fake-clock';
import type { IdRange } from '../tags/id-range';
import { loadFor, type PendingTake } from './pending-take';

const range = (from: number, to: number): IdRange => ({ from: BigInt(from), to: BigInt(to) });

describe('loadFor', () => {
  let clock: FakeClock;
  let sizes: number[];

  beforeEach(() => {
    clock = new FakeClock();
    sizes = [];
  });

  const pendingOf = (count: number, consecutive = false): PendingTake => {
    return { count, consecutive, loaded: [], abandoned: false, done: false };
  };

  /** Loads from a store that gives `answers`, one after the other. */
  async function load(pending: PendingTake, ...answers: IdRange[][]): Promise<boolean> {
    const allocate = (size: number): Promise<IdRange[]> => {
      sizes.push(size);
      return Promise.resolve(answers.shift()!);
    };
    const loading = loadFor(pending, allocate, clock);
    for (let turn = 0; turn <= answers.length; turn++) await clock.advance(0);
    return loading;
  }

  it('asks for what is missing until it has all', async () => {
    const pending = pendingOf(10);
    await expect(load(pending, [range(1, 4)], [range(11, 14), range(21, 21)], [range(31, 40)])).resolves.toBe(true);
    expect(sizes).toEqual([10, 6, 1]);
    expect(pending.loaded).toEqual([range(1, 4), range(11, 14), range(21, 21), range(31, 40)]);
  });

  it('is content with exactly what it asked for', async () => {
    await expect(load(pendingOf(4), [range(1, 4)])).resolves.toBe(true);
    expect(sizes).toEqual([4]);
  });

  it('goes on while the ranges adjoin, and stops at a gap, if the IDs must be consecutive', async () => {
    const pending = pendingOf(10, true);
    await expect(load(pending, [range(1, 2)], [range(3, 4)], [range(6, 7)])).resolves.toBe(true);
    expect([sizes, pending.loaded.length]).toEqual([[10, 8, 6], 3]);
  });

  it('gives up as soon as the IDs would be more than a thousand ranges', async () => {
    await expect(load(pendingOf(2000), [range(1, 2)], [range(11, 2008)])).resolves.toBe(true);
    await expect(load(pendingOf(2001), [range(1, 2)])).resolves.toBe(false);
  });

  it('stops at a store that gives nothing', async () => {
    await expect(load(pendingOf(5), [])).resolves.toBe(true);
    expect(sizes).toEqual([5]);
  });

  it('lets others run between two allocations, and ends when its caller is gone', async () => {
    const pending = pendingOf(5);
    const loading = loadFor(
      pending,
      (size) => {
        sizes.push(size);
        return Promise.resolve([range(1, 1)]);
      },
      clock,
    );
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect([sizes, clock.sleeping]).toEqual([[5], 1]);
    pending.abandoned = true;
    await clock.advance(0);
    await expect(loading).resolves.toBe(true);
    expect([sizes, pending.loaded]).toEqual([[5], [range(1, 1)]]);
  });
});
