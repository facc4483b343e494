import { parseArgs } from 'node:util';
import { describeTargets, type Target } from '../report/figures';
import { readEnvironment, writeResults } from '../report/results';
import { formatTable } from '../report/table';
import type { PartRun, Runner } from './runner';

/** One benchmark: `bench/<name>.bench.ts`. */
export interface Part {
  readonly name: string;
  readonly measures: string;
  /** Approximate duration on an idle machine. */
  readonly seconds: number;
  readonly quickSeconds: number;
}

/** In the order in which they run. */
export const PARTS: readonly Part[] = [
  { name: 'core', measures: 'ID generation inside one process', seconds: 75, quickSeconds: 20 },
  { name: 'http', measures: 'the built server over HTTP', seconds: 850, quickSeconds: 200 },
  { name: 'resp', measures: 'the built server over the Redis protocol', seconds: 90, quickSeconds: 30 },
  { name: 'peers', measures: 'single IDs, compared with what else gives IDs', seconds: 360, quickSeconds: 100 },
  { name: 'client', measures: 'the client with built servers', seconds: 110, quickSeconds: 30 },
  { name: 'memory', measures: 'memory of the built server', seconds: 600, quickSeconds: 60 },
  { name: 'start', measures: 'time from the start of the built server to its first ID', seconds: 90, quickSeconds: 30 },
  { name: 'strict', measures: 'IDs of strict tags, compared with Redis', seconds: 240, quickSeconds: 60 },
  { name: 'numbers', measures: 'numbers without gaps, compared with a locked counter', seconds: 900, quickSeconds: 90 },
];
/** Its targets depend on the database. */
const ONLY_WITH_ALL = ['strict', 'numbers'];
/** Default parts of a comparison, which runs each part many times. */
const COMPARED = ['core', 'http'];
const COMPARED_ROUNDS = 3;

export interface SuiteArguments {
  readonly parts: readonly Part[];
  readonly quick: boolean;
  /** The other revision of a comparison. */
  readonly compare: string | undefined;
  /** Of the comparison, or else of each part; undefined for the plan of the part. */
  readonly rounds: number | undefined;
}

/** @throws Error that explains the usage */
export function parseSuiteArguments(words: readonly string[]): SuiteArguments {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      compare: { type: 'string' },
      rounds: { type: 'string' },
    },
  });
  const { quick, all, compare } = values;
  const byDefault = compare === undefined ? undefined : COMPARED_ROUNDS;
  const rounds = values.rounds === undefined ? byDefault : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
    throw new Error('--rounds must be a whole number of at least 1.');
  }
  if (all && positionals.length > 0) throw new Error('Name parts or use --all, but not both.');
  const names = PARTS.map(({ name }) => name);
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`Unknown part ${unknown}. Parts: ${names.join(', ')}.`);

  const usual = compare === undefined ? names.filter((name) => !ONLY_WITH_ALL.includes(name)) : COMPARED;
  const chosen = positionals.length > 0 ? positionals : all ? names : usual;
  return { parts: PARTS.filter(({ name }) => chosen.includes(name)), quick, compare, rounds };
}

/** A finished part. */
export interface Outcome extends PartRun {
  readonly part: string;
}

/** Runs the parts sequentially and summarizes their targets; returns whether every part succeeded. */
export async function runSuite(runner: Runner, { parts, quick, rounds }: SuiteArguments): Promise<boolean> {
  const secondsOf = (part: Part): number => (quick ? part.quickSeconds : part.seconds);
  const total = parts.reduce((sum, part) => sum + secondsOf(part), 0);
  const plan = parts.map((part) => [part.name, duration(secondsOf(part)), part.measures]);
  console.log(`${formatTable(['part', 'about', 'measures'], plan)}\n\nTotal: about ${duration(total)}.`);
  if (quick) console.log('Quick mode: the runs are too short for reliable figures.');

  const outcomes: Outcome[] = [];
  const startedAt = performance.now();
  for (const [index, part] of parts.entries()) {
    console.log(`\n=== ${part.name}, part ${index + 1} of ${parts.length}: ${part.measures}`);
    outcomes.push({ part: part.name, ...(await runner.part(part.name, { quick, rounds, shown: true })) });
  }

  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`\n=== summary, after ${duration(seconds)}\n\n${describeOutcomes(outcomes)}`);
  const taken = outcomes.map(({ results: _, ...outcome }) => outcome);
  const summary = { environment: readEnvironment(), quick, parts: taken, targets: targetsOf(outcomes) };
  console.log(`Written to ${writeResults('all', summary)}`);
  return outcomes.every(({ ok }) => ok);
}

/** All targets with their parts, the number of targets reached, and the failed parts. */
export function describeOutcomes(outcomes: readonly Outcome[]): string {
  const targets = targetsOf(outcomes);
  const reached = targets.filter((target) => target.reached).length;
  const failed = outcomes.filter(({ ok }) => !ok).map(({ part }) => part);
  return [
    describeTargets(targets),
    `${reached} of ${targets.length} targets reached.`,
    ...(failed.length > 0 ? [`FAILED, see above: ${failed.join(', ')}.`] : []),
  ].join('\n');
}

function targetsOf(outcomes: readonly Outcome[]): Target[] {
  return outcomes.flatMap(({ part, results }) =>
    (results?.targets ?? []).map((target) => ({ ...target, name: `${part}: ${target.name}` })),
  );
}

/** Seconds below 90 s, otherwise minutes. */
export function duration(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
