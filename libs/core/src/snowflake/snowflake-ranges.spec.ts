import { LeafError } from '../errors/leaf-error';
import { FakeClock } from '../clock/fake-clock';
import { BitLayout, DEFAULT_EPOCH } from './bit-layout';
import type { IssueWindow } from './issue-window';
import { SnowflakeGenerator } from './snowflake-generator';

const START = 1_700_000_000_000;

describe('SnowflakeGenerator, ranges', () => {
  /** Eight IDs a millisecond. */
  const layout = new BitLayout({ timeBits: 41, workerBits: 10, sequenceBits: 3, epoch: DEFAULT_EPOCH });
  let clock: FakeClock;
  let ids: SnowflakeGenerator;
  let window: IssueWindow & { ceiling: number };

  beforeEach(() => {
    clock = new FakeClock(START);
    window = {
      term: { workerId: 5, floor: START - 1 },
      ceiling: START + 10,
      renewAfter: Infinity,
      refusal: new LeafError('LEAF_NOT_READY', 'no worker'),
      renew: () => Promise.resolve(),
    };
    ids = new SnowflakeGenerator(layout, window, clock, () => 0, { maxBackwardsMs: 5, waitMs: 50, sequenceStart: 100 });
  });

  const at = (timestamp: number, sequence: number): bigint =>
    layout.compose({ timestamp: START + timestamp, workerId: 5, sequence });

  it('follow each other within a millisecond', () => {
    expect(ids.tryRange(3)).toEqual({ from: at(0, 0), to: at(0, 2) });
    expect(ids.tryNext()).toBe(at(0, 3));
    expect(ids.tryRange(4)).toEqual({ from: at(0, 4), to: at(0, 7) });
    expect(ids.tryRange(1)).toBeUndefined();
    expect(ids.snapshot().issued).toBe(8);
  });

  it('are refused without a loss when the millisecond does not have as many', () => {
    expect(ids.tryRange(9)).toBeUndefined();
    expect(ids.snapshot().issued).toBe(0);
    expect(ids.tryRange(6)).toEqual({ from: at(0, 0), to: at(0, 5) });
    expect(ids.tryRange(3)).toBeUndefined();
    expect(ids.snapshot().issued).toBe(6);
    expect(ids.tryRange(2)).toEqual({ from: at(0, 6), to: at(0, 7) });
  });

  it('are refused where an ID is', () => {
    clock.step(11);
    expect(ids.tryRange(1)).toBeUndefined();
    expect(ids.refusal()).toMatchObject({ code: 'LEAF_LEASE_EXPIRED' });
  });

  it('go on from millisecond to millisecond when they may wait', async () => {
    ids.tryRange(6);
    const answer = ids.takeRanges(11);
    await clock.advance(2);
    await expect(answer).resolves.toEqual([
      { from: at(0, 6), to: at(0, 7) },
      { from: at(1, 0), to: at(1, 7) },
      { from: at(2, 0), to: at(2, 0) },
    ]);
    expect(ids.snapshot().issued).toBe(17);
  });

  it('of several calls come one after the other, and a single ID does not wait for all of them', async () => {
    window.ceiling = Infinity;
    const batches = [ids.takeRanges(24), ids.takeRanges(24), ids.takeRanges(24)];
    const single = ids.takeRanges(1);
    let ended = 0;
    for (const batch of batches) void batch.then(() => ended++);
    while (ended === 0) await clock.advance(1);
    batches.push(ids.takeRanges(24));
    for (let ms = 0; ms < 15; ms++) await clock.advance(1);
    const bounds = (await Promise.all(batches)).flatMap((ranges) => [ranges[0]!.from, ranges.at(-1)!.to]);
    expect(bounds).toEqual([...bounds].sort((a, b) => Number(a - b)));
    expect((await single)[0]!.to).toBeLessThan(bounds[3]!);
  });

  it('of a call do not overtake those of calls that wait, though a millisecond begins before their timers end', async () => {
    const calls = [ids.takeRanges(10), ids.takeRanges(12)];
    clock.pause(1);
    calls.push(ids.takeRanges(3));
    await clock.advance(1);
    expect(await calls[0]).toHaveLength(2);
    clock.pause(1);
    calls.push(ids.takeRanges(3));
    await clock.advance(5);
    const firsts = (await Promise.all(calls)).map((ranges) => ranges[0]!.from);
    const lasts = (await Promise.all(calls)).map((ranges) => ranges.at(-1)!.to);
    for (const [index, last] of lasts.slice(0, -1).entries()) expect(last).toBeLessThan(firsts[index + 1]!);
  });

  it('leave half of each millisecond to calls for a single ID', async () => {
    ids.tryRange(8);
    const several = ids.takeRanges(4);
    const singles = Array.from({ length: 5 }, () => ids.takeRanges(1));
    await clock.advance(2);
    await expect(several).resolves.toEqual([{ from: at(1, 0), to: at(1, 3) }]);
    const rest = (await Promise.all(singles)).flat().map(({ from }) => from);
    expect(rest).toEqual([at(1, 4), at(1, 5), at(1, 6), at(1, 7), at(2, 0)]);
    // Nobody waits any more.
    expect(ids.tryRange(7)).toEqual({ from: at(2, 1), to: at(2, 7) });
  });

  it('at once do not overtake calls that wait', async () => {
    const waiting = ids.takeRanges(10);
    clock.pause(1);
    expect(ids.tryRange(2)).toBeUndefined();
    expect(ids.tryRange(1)).toEqual({ from: at(1, 0), to: at(1, 0) });
    await clock.advance(1);
    await expect(waiting).resolves.toHaveLength(2);
    expect(ids.tryRange(2)).toBeDefined();
  });

  it('are refused in time behind others', async () => {
    window.ceiling = Infinity;
    const answers: unknown[] = [];
    for (const count of [240, 240, 1]) {
      ids.takeRanges(count).then(
        () => answers.push(count),
        (error: unknown) => answers.push((error as LeafError).code),
      );
    }
    for (let ms = 0; ms < 52; ms++) await clock.advance(1);
    expect(answers).toEqual([1, 240, 'LEAF_OVERLOADED']);
  });
});
