import { FAULTS } from './faults';
import { playSeeds, replay, shrinkSeed } from './seeds';
import { shrink } from './shrink';
import { simulate } from './world';

describe('The lease, the generator and the registry in a simulated world', () => {
  it('break no rule, whatever goes wrong', async () => {
    const { failure, seeds, tally, faults, excused } = await playSeeds(1, 360, undefined, 'lease');
    expect(failure).toBeUndefined();
    // Nobody notices a copy before it reaches the registry. The other conditions are not needed here.
    const { 'a copied process before it reached the registry': copies, ...others } = excused;
    expect(Object.values(others)).toEqual(Object.values(others).map(() => 0));
    expect(copies).toBeGreaterThan(0);
    expect(seeds).toBe(360);
    // Servers that refuse everything break no rule, and faults that never happen prove nothing.
    expect(tally.ids).toBeGreaterThan(2_000_000);
    expect(tally.windowIds).toBeGreaterThan(1_000_000);
    expect(tally.windows).toBeGreaterThan(300);
    expect(tally.acquired).toBeGreaterThan(700);
    expect(tally.reregistered).toBeGreaterThan(20);
    expect(tally.reacquired).toBeGreaterThan(5);
    expect(FAULTS.filter((fault) => faults[fault] < 5)).toStrictEqual([]);
  });

  it.each([
    [8817, 'a process is copied after its acquisition was sent, and both copies read it back'],
    [13130, 'a server with another layout, and with a longer lease TTL, is refused'],
    [13801, 'a process is cloned, and the registry loses what one of the two has written since'],
    [3037, 'a write could reach ZooKeeper only after the session of its sender has expired'],
    [4043, 'the document is deleted, and no holder is left that writes it again'],
    [3511, 'a copy goes on in the millisecond in which its origin was copied'],
  ])('break no rule in world %i, in which %s', async (seed) => {
    const { failure } = await playSeeds(seed, 1, undefined, 'lease');
    expect(failure).toBeUndefined();
  });

  it('go the same way whenever a seed is played', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { trace, totals } = await replay(seed);
      expect(trace.length).toBeGreaterThan(100);
      expect((await replay(seed)).trace).toEqual(trace);
      // Tracing does not change the run.
      expect(await playSeeds(seed, 1, undefined, 'lease')).toEqual(totals);
    }
  });

  it('go well without faults', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { tally, conditions } = await simulate(seed, { faults: [] });
      if (!conditions.twins && !conditions.layouts) expect(tally).toMatchObject({ lost: 0, reacquired: 0 });
    }
  });
});

describe('A failing schedule', () => {
  it('shrinks to the faults that it takes', async () => {
    const fails = (rest: readonly number[]): Promise<boolean> => Promise.resolve(rest.includes(3) && rest.includes(17));
    const faults = Array.from({ length: 20 }, (_, index) => index);
    await expect(shrink(faults, fails)).resolves.toEqual([3, 17]);
  });

  it('shrinks to nothing when nothing fails only with faults', async () => {
    await expect(shrinkSeed(1)).resolves.toStrictEqual([]);
  });
});
