import { brokenRules } from './broken-rules';
import { correct } from './rules';
import { playSeeds, replay } from './seeds';

/** Enough for each of them many times over: the rarest shows in one seed of a hundred. */
const SEEDS = 1500;

describe.each(brokenRules.map((rules) => ({ name: rules.name, rules })))('Broken rule: $name', ({ rules }) => {
  it('is caught, fails again in the same way, and makes the difference', async () => {
    const { failure } = await playSeeds(1, SEEDS, { rules });
    const { seed } = failure!;
    const { trace, totals } = await replay(seed, { rules });
    expect(totals.failure).toEqual(failure);
    expect(await replay(seed, { rules })).toEqual({ trace, totals });
    // With every rule in force the same world is clean.
    const { protocol } = rules;
    expect((await playSeeds(seed, 1, { rules: { ...correct, protocol } })).failure).toBeUndefined();
  });

  it('leads to a (timestamp, worker) pair that two processes have used', async () => {
    const { failure } = await playSeeds(1, SEEDS, { rules, until: 'pair' });
    expect(failure).toMatchObject({ breach: 'pair', message: expect.stringMatching(/was issued by .* before/) });
  });
});
