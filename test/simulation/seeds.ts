import { addTotals, noTotals, totalsOf, type FailedSeed, type Totals } from './totals';
import { simulate, type SimulationOptions } from './world';

/** Plays `count` seeds from `first` on, up to the first that fails. */
export async function playSeeds(first: number, count: number, options?: SimulationOptions): Promise<Totals> {
  const totals = noTotals();
  for (let seed = first; seed < first + count && totals.failure === undefined; seed++) {
    addTotals(totals, totalsOf(await simulate(seed, options)));
  }
  return totals;
}

export interface Replay {
  /** Every step, and what happened in it. */
  readonly trace: readonly string[];
  readonly totals: Totals;
}

/** Plays one seed again and writes down what happens. */
export async function replay(seed: number, options?: SimulationOptions): Promise<Replay> {
  const trace: string[] = [];
  const result = await simulate(seed, {
    ...options,
    onStep: (step, time, actor, label) => trace.push(`${step}  ${time.toFixed(3)} ms  ${actor}  ${label}`),
    onNote: (text) => trace.push(`      ${text}`),
  });
  const { protocol, layout, horizonMs, reportMs, grainMs, hosts, processes } = result.conditions;
  trace.unshift(
    `${protocol}, ${hosts} hosts with ${processes} processes each, ${layout.sequenceBits} sequence bits, horizon ${horizonMs} ms, ` +
      `report every ${reportMs} ms, events ${grainMs > 0 ? `every ${grainMs} ms` : 'at any time'}`,
  );
  return { trace, totals: totalsOf(result) };
}

export function describeFailure({ seed, step, breach, message }: FailedSeed): string {
  return `seed ${seed} failed at step ${step} (${breach}): ${message}`;
}
