import { relative } from 'node:path';
import * as fc from 'fast-check';

const VARIABLE = 'LEAF_TEST_SEED';
const LARGEST = 2 ** 31 - 1;

/**
 * The seed of tests that draw what they try: the UTC date as a number, 20261127, so that other cases are tried every
 * day. `LEAF_TEST_SEED` overrides it.
 */
export function seedOfRun(): number {
  const seed = Number(process.env[VARIABLE] ?? new Date().toISOString().slice(0, 10).replaceAll('-', ''));
  if (Number.isInteger(seed) && seed > 0 && seed <= LARGEST) return seed;
  throw new Error(`${VARIABLE} must be a whole number from 1 to ${LARGEST}.`);
}

/** {@link seedOfRun}, printed with the command that repeats the test. Call it in a test. */
export function announcedSeed(): number {
  const seed = seedOfRun();
  process.stdout.write(`Seed ${seed}. Once more: ${commandOf(seed)}\n`);
  return seed;
}

/** Parameters of a property: the seed of this run, and a report with the command that repeats it. */
export function drawn(numRuns: number): Pick<fc.Parameters<unknown>, 'numRuns' | 'seed'> & { reporter: typeof report } {
  return { numRuns, seed: seedOfRun(), reporter: report };
}

function report<T>(details: fc.RunDetails<T>): void {
  if (!details.failed) return;
  const { errorInstance, seed } = details;
  const message = `${fc.defaultReportMessage(details as fc.RunDetails<unknown>)}\n\nOnce more: ${commandOf(seed)}`;
  throw new Error(message, { cause: errorInstance });
}

function commandOf(seed: number): string {
  const { testPath = '' } = expect.getState();
  return `${VARIABLE}=${seed} npx jest ${relative(process.cwd(), testPath)}`;
}
