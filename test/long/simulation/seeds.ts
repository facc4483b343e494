import type { Fault } from './faults';
import { shrink } from './shrink';
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
  readonly schedule: readonly Fault[];
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
  const { offsets, settings, limits, ...conditions } = result.conditions;
  trace.unshift(
    `${Object.entries(conditions)
      .map((entry) => entry.join(' '))
      .join(', ')}, offsets ${offsets.join(' ')}, ${JSON.stringify({ settings, limits })}`,
  );
  return { trace, schedule: result.schedule, totals: totalsOf(result) };
}

/** The fewest of a failing world's faults with which it still fails in the same way. */
export async function shrinkSeed(seed: number, options: SimulationOptions = {}): Promise<Fault[]> {
  const { schedule, failure } = await simulate(seed, options);
  const fails = async (faults: readonly Fault[]): Promise<boolean> =>
    (await simulate(seed, { ...options, faults })).failure?.breach === failure?.breach;
  return shrink(schedule, fails);
}

export function describeFailure({ seed, breach, message }: FailedSeed): string {
  return `seed ${seed} (${breach}): ${message}`;
}
