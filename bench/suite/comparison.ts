import { join } from 'node:path';
import { ratios, summarize, type Summary } from '../report/figures';
import { describeEnvironment, type PartResults, readEnvironment, resultsFolder, writeResults } from '../report/results';
import { decimals, formatTable, significant, spread } from '../report/table';
import { OtherCheckout } from './other-checkout';
import type { Runner } from './runner';
import { duration, type Part } from './suite';

export interface Comparison {
  readonly part: string;
  readonly name: string;
  readonly unit: string;
  readonly other: Summary;
  readonly current: Summary;
  /** Ratio of this checkout to the other one in the same round. */
  readonly ratio: Summary;
}

/** The runs of a part, one for each side per round. */
export interface Pair {
  readonly other: PartResults;
  readonly current: PartResults;
}

export interface ComparisonPlan {
  readonly revision: string;
  readonly rounds: number;
  readonly quick: boolean;
}

/** Measures another revision and this checkout alternately, both with the benchmarks of this checkout. */
export async function compareRevisions(runner: Runner, parts: readonly Part[], plan: ComparisonPlan): Promise<void> {
  const { revision, rounds, quick } = plan;
  const seconds = parts.reduce((sum, part) => sum + (quick ? part.quickSeconds : part.seconds), 0) * rounds * 2;
  console.log(describeEnvironment(readEnvironment()));
  console.log(`${parts.map(({ name }) => name).join(', ')}; ${rounds} rounds of both; about ${duration(seconds)}`);
  const other = OtherCheckout.add(revision);
  await other.build(runner);
  const comparisons: Comparison[] = [];
  for (const part of parts) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round++) pairs.push(await measurePair(runner, part, other, plan, round));
    comparisons.push(...compare(part.name, pairs));
  }
  console.log(`\n${describeComparison(comparisons, other.commit.slice(0, 10))}`);
  const results = { environment: readEnvironment(), ...plan, commit: other.commit, comparisons };
  console.log(`Written to ${writeResults('compare', results)}`);
}

/** The sides of a round, in alternating order. */
async function measurePair(
  runner: Runner,
  part: Part,
  { folder: product }: OtherCheckout,
  { rounds, quick, revision }: ComparisonPlan,
  round: number,
): Promise<Pair> {
  const folder = join(resultsFolder(), 'compare');
  const run = async (side: keyof Pair): Promise<PartResults> => {
    const name = side === 'other' ? revision : 'this checkout';
    console.error(`\n${part.name}, round ${round + 1} of ${rounds}, ${name} …`);
    const options = { quick, folder, shown: false, ...(side === 'other' ? { product } : {}) };
    const { ok, results } = await runner.part(part.name, options);
    if (!ok || results === undefined) throw new Error(`Part ${part.name} failed on ${name}.`);
    return results;
  };
  const first = round % 2 === 0 ? await run('other') : undefined;
  const current = await run('current');
  return { other: first ?? (await run('other')), current };
}

/** One row for each figure that all runs have. */
export function compare(part: string, pairs: readonly Pair[]): Comparison[] {
  const names = pairs[0]?.current.figures ?? [];
  return names.flatMap(({ name, unit }) => {
    const valuesOf = (side: keyof Pair): number[] =>
      pairs.flatMap((pair) => pair[side].figures.find((figure) => figure.name === name)?.value ?? []);
    const [other, current] = [valuesOf('other'), valuesOf('current')];
    if (other.length < pairs.length || current.length < pairs.length) return [];
    return {
      ...{ part, name, unit },
      other: summarize(other),
      current: summarize(current),
      ratio: summarize(ratios(current, other)),
    };
  });
}

export function describeComparison(comparisons: readonly Comparison[], revision: string): string {
  const header = ['figure', 'unit', revision, 'this checkout', 'ratio', 'min..max', ''];
  const rows = comparisons.map(({ part, name, unit, other, current, ratio }) => [
    `${part}: ${name}`,
    unit,
    significant(other.median),
    significant(current.median),
    ...spread(ratio, (value) => decimals(value, 3)),
    ratio.min > 1 ? 'always more' : ratio.max < 1 ? 'always less' : '',
  ]);
  return formatTable(header, rows);
}
