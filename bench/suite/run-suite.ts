import { readEnvironment } from '../report/environment';
import { writeResults } from '../report/results-file';
import { formatTable } from '../../test/support/table';
import { describeTargets, type Target } from '../report/targets';
import type { Part } from './parts';
import type { PartRun, Runner } from './runner';

/** A finished part. */
export interface Outcome extends PartRun {
  readonly part: string;
}

/** Runs the parts sequentially and summarizes their targets; returns whether every part succeeded. */
export async function runSuite(runner: Runner, parts: readonly Part[], quick: boolean): Promise<boolean> {
  const secondsOf = (part: Part): number => (quick ? part.quickSeconds : part.seconds);
  const total = parts.reduce((sum, part) => sum + secondsOf(part), 0);
  const plan = parts.map((part) => [part.name, duration(secondsOf(part)), part.measures]);
  console.log(`${formatTable(['part', 'about', 'measures'], plan)}\n\nTotal: about ${duration(total)}.`);
  if (quick) console.log('Quick mode: the runs are too short for reliable figures.');

  const outcomes: Outcome[] = [];
  const startedAt = performance.now();
  for (const [index, part] of parts.entries()) {
    const left = parts.slice(index).reduce((sum, other) => sum + secondsOf(other), 0);
    console.log(
      `\n=== ${part.name}, part ${index + 1} of ${parts.length}: ${part.measures}; about ${duration(left)} left`,
    );
    outcomes.push({ part: part.name, ...(await runner.part(part, { quick, shown: true })) });
  }

  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`\n=== summary, after ${duration(seconds)}\n\n${describeOutcomes(outcomes)}`);
  const summary = {
    environment: readEnvironment(),
    quick,
    parts: outcomes.map(({ part, ok, seconds: taken }) => ({ part, ok, seconds: taken })),
    targets: targetsOf(outcomes),
  };
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

export function targetsOf(outcomes: readonly Outcome[]): Target[] {
  return outcomes.flatMap(({ part, results }) =>
    (results?.targets ?? []).map((target) => ({ ...target, name: `${part}: ${target.name}` })),
  );
}

/** Seconds below 90 s, otherwise minutes. */
export function duration(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
