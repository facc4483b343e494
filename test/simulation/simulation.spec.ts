import { FAULTS } from './faults';
import { playSeeds, replay } from './seeds';

describe('The lease, the generator and the registry protocols in a simulated world', () => {
  it('break no rule, whatever goes wrong', async () => {
    const totals = await playSeeds(1, 240);
    expect(totals.failure).toBeUndefined();
    expect(totals.seeds).toBe(240);
    // Refusing everything would keep every rule, and faults that never happen prove nothing.
    expect(totals.ids).toBeGreaterThan(2_000_000);
    expect(totals.acquired).toBeGreaterThan(700);
    expect(totals.released).toBeGreaterThan(70);
    expect(totals.lost).toBeGreaterThan(200);
    expect(FAULTS.filter((fault) => totals.faults[fault] < 50)).toEqual([]);
  });

  it('go the same way whenever a seed is played', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { trace, totals } = await replay(seed);
      expect(trace.length).toBeGreaterThan(100);
      expect(await replay(seed)).toEqual({ trace, totals });
      // Nor does it matter whether somebody watches.
      expect(await playSeeds(seed, 1)).toEqual(totals);
    }
  });

  it('go another way with another seed', async () => {
    const traces = new Set<string>();
    for (let seed = 1; seed <= 10; seed++) traces.add((await replay(seed)).trace.join('\n'));
    expect(traces.size).toBe(10);
  });
});
