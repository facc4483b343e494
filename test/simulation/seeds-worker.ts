import { parentPort } from 'node:worker_threads';
import { brokenRules } from './broken-rules';
import { playSeeds } from './seeds';
import type { SimulationOptions } from './world';

export interface Batch {
  readonly first: number;
  readonly count: number;
  /** The name of a rule that is out of force; all are in force when undefined. */
  readonly without: string | undefined;
}

/** With a rule out of force, it goes on until one (timestamp, worker) pair was used twice: nothing less is looked for. */
export function optionsOf(without: string | undefined): SimulationOptions {
  const rules = brokenRules.find(({ name }) => name === without);
  return rules === undefined ? {} : { rules, until: 'pair' };
}

parentPort?.on('message', ({ first, count, without }: Batch) => {
  void playSeeds(first, count, optionsOf(without)).then((totals) => parentPort?.postMessage(totals));
});
