import type { Fault } from './faults';
import type { SegmentFault } from './segments/segment-faults';
import { openSegmentEngine, type SegmentOptions, simulateSegments } from './segments/segment-world';
import { shrink } from './shrink';
import { addTotals, type FailedSeed, noTotals, type Totals, totalsOf, totalsOfSegments } from './totals';
import { simulate, type SimulationOptions } from './world';

/** `all`: every seed has a world of worker leases, and every fourth one a world of segments as well. */
export const WORLDS = ['all', 'lease', 'segments'] as const;
export type Worlds = (typeof WORLDS)[number];

const SEGMENTS_EVERY = 4;

/** Plays `count` seeds from `first` on, up to the first that fails. */
export async function playSeeds(
  first: number,
  count: number,
  options?: SimulationOptions,
  worlds: Worlds = 'all',
): Promise<Totals> {
  const totals = noTotals();
  const engine = worlds === 'lease' ? undefined : await openSegmentEngine();
  for (let seed = first; seed < first + count && totals.failure === undefined; seed++) {
    totals.seeds++;
    if (worlds !== 'segments') addTotals(totals, totalsOf(await simulate(seed, options)));
    if (engine === undefined || (worlds === 'all' && seed % SEGMENTS_EVERY !== 0)) continue;
    addTotals(totals, totalsOfSegments(await simulateSegments(seed, engine, { until: options?.until })));
  }
  return totals;
}

export interface Replay<F> {
  /** Every step, and what happened in it. */
  readonly trace: readonly string[];
  readonly schedule: readonly F[];
  readonly totals: Totals;
}

/** Plays one seed again and writes down what happens. */
export async function replay(seed: number, options?: SimulationOptions): Promise<Replay<Fault>> {
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
  return { trace, schedule: result.schedule, totals: { ...totalsOf(result), seeds: 1 } };
}

/** As {@link replay}, of the world with segments. */
export async function replaySegments(seed: number, options?: SegmentOptions): Promise<Replay<SegmentFault>> {
  const trace: string[] = [];
  const result = await simulateSegments(seed, await openSegmentEngine(), {
    ...options,
    onNote: (text) => trace.push(text),
  });
  trace.unshift(JSON.stringify(result.conditions));
  return { trace, schedule: result.schedule, totals: { ...totalsOfSegments(result), seeds: 1 } };
}

/** The fewest of a failing world's faults with which it still fails in the same way. */
export async function shrinkSeed(seed: number, options: SimulationOptions = {}): Promise<Fault[]> {
  const { schedule, failure } = await simulate(seed, options);
  const fails = async (faults: readonly Fault[]): Promise<boolean> =>
    (await simulate(seed, { ...options, faults })).failure?.breach === failure?.breach;
  return shrink(schedule, fails);
}

/** As {@link shrinkSeed}, of the world with segments. */
export async function shrinkSegments(seed: number, options: SegmentOptions = {}): Promise<SegmentFault[]> {
  const engine = await openSegmentEngine();
  const { schedule, failure } = await simulateSegments(seed, engine, options);
  const fails = async (faults: readonly SegmentFault[]): Promise<boolean> =>
    (await simulateSegments(seed, engine, { ...options, faults })).failure?.breach === failure?.breach;
  return shrink(schedule, fails);
}

export function describeFailure({ seed, breach, message }: FailedSeed): string {
  return `seed ${seed} (${breach}): ${message}`;
}
