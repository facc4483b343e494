import { runMain } from './harness';
import { compareRevisions } from './suite/comparison';
import { Runner } from './suite/runner';
import { parseSuiteArguments, runSuite } from './suite/suite';

async function main(): Promise<void> {
  const options = parseSuiteArguments(process.argv.slice(2));
  const { parts, quick, compare, rounds = 1 } = options;
  const runner = new Runner();
  if (compare !== undefined) await compareRevisions(runner, parts, { revision: compare, rounds, quick });
  else if (!(await runSuite(runner, options))) process.exitCode = 1;
}

runMain(main, (error) => (error instanceof Error ? error.message : error));
