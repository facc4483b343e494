import { parseSuiteArguments } from './suite/arguments';
import { compareRevisions } from './suite/comparison';
import { runSuite } from './suite/run-suite';
import { Runner } from './suite/runner';

async function main(): Promise<void> {
  const { parts, quick, compare, rounds } = parseSuiteArguments(process.argv.slice(2));
  const runner = new Runner();
  if (compare !== undefined) await compareRevisions(runner, parts, { revision: compare, rounds, quick });
  else if (!(await runSuite(runner, parts, quick))) process.exitCode = 1;
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
