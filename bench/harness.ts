import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeTargets, type Figure, type Target } from './report/figures';
import { describeEnvironment, readEnvironment, writeResults } from './report/results';

const BUILT_SERVER = 'dist/apps/leaf-server/src/main.js';

interface Plan {
  readonly rounds: number;
}

export interface Outcome {
  /** The tables, for people. */
  readonly text: string;
  readonly targets: readonly Target[];
  readonly figures: readonly Figure[];
  /** What else the file of results contains. */
  readonly details: object;
  /** Errors of which the machine is not the cause, such as duplicates: they make the command fail. */
  readonly faults?: readonly string[];
}

/**
 * The main program of a part. Options: `--quick`, `--rounds <number>`, and `--server <main.js>`, the build to measure.
 *
 * @param measure gets the plan and the path of the built server
 */
export function runPart<P extends Plan>(
  name: string,
  plans: Readonly<Record<'full' | 'quick', P>>,
  measure: (plan: P, server: string) => Promise<Outcome>,
): void {
  const main = async (): Promise<void> => {
    const [plan, server] = readOptions(plans);
    const environment = readEnvironment();
    console.log(describeEnvironment(environment));
    const { text, targets, figures, details, faults = [] } = await measure(plan, server);
    console.log(`\n${text}\n\n${describeTargets(targets)}`);
    console.log(`Written to ${writeResults(name, { environment, targets, figures, plan, ...details })}`);
    for (const fault of faults) console.error(`FAILED: ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  };
  runMain(main);
}

/** Runs the main program of a process and ends the process after it. */
export function runMain(main: () => Promise<void>, describe = (error: unknown) => error): void {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      console.error(describe(error));
      process.exit(1);
    },
  );
}

function readOptions<P extends Plan>(plans: Readonly<Record<'full' | 'quick', P>>): [plan: P, server: string] {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      server: { type: 'string', default: BUILT_SERVER },
    },
  });
  const server = resolve(values.server);
  if (!existsSync(server)) throw new Error(`Missing ${server}. Run "npm run build" first.`);
  const plan = values.quick ? plans.quick : plans.full;
  return [{ ...plan, rounds: Number(values.rounds ?? plan.rounds) }, server];
}

/**
 * Runs every item once in each round, in rotating order, so that none always follows the same one.
 *
 * @returns the results of each item, one per round
 */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  rounds: number,
  run: (item: Item) => Promise<Result>,
): Promise<Map<Item, Result[]>> {
  const results = new Map<Item, Result[]>(items.map((item) => [item, []]));
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds} …`);
    const first = round % items.length;
    for (const item of [...items.slice(first), ...items.slice(0, first)]) results.get(item)?.push(await run(item));
  }
  return results;
}
