import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../support/servers/run-main';
import { PAIRS } from './pairs';
import { type RollingOutcome, runRolling } from './rolling-run';

/** The newest outcome of each pair. */
const RESULTS = 'node_modules/.cache/leaf-versions';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      older: { type: 'string', default: '' },
      revision: { type: 'string', default: '' },
      minutes: { type: 'string', default: '20' },
      only: { type: 'string', default: PAIRS.map(({ name }) => name).join(',') },
    },
  });
  const names = values.only.split(',');
  const minutes = Number(values.minutes);
  const unknown = names.filter((name) => PAIRS.every((pair) => pair.name !== name));
  if (unknown.length > 0 || !(minutes > 0)) {
    throw new Error(`--minutes must be above 0, and --only some of ${PAIRS.map(({ name }) => name).join(', ')}`);
  }
  const roots = { old: resolve(values.older), new: process.cwd() };
  for (const pair of PAIRS.filter(({ name }) => names.includes(name))) {
    const say = (line: string): void => console.log(`  ${line}`);
    const outcome = await runRolling({ roots, pair, minutes, say }).catch((error: unknown) => {
      console.log(`${pair.name}: FAILED`, error);
      process.exitCode = 1;
    });
    if (outcome === undefined) continue;
    console.log(JSON.stringify(outcome, undefined, 2));
    const passed = isPassed(outcome);
    console.log(`${pair.name}: ${passed ? 'passed' : 'FAILED'}\n`);
    if (!passed) process.exitCode = 1;
    mkdirSync(RESULTS, { recursive: true });
    const day = new Date().toISOString().slice(0, 10);
    const result = { ...outcome, passed, day, revision: values.revision };
    writeFileSync(join(RESULTS, `${pair.name}.json`), `${JSON.stringify(result, undefined, 2)}\n`);
  }
}

function isPassed({ duplicates, disorder, faults }: RollingOutcome): boolean {
  return duplicates.length + disorder.length + faults.length === 0;
}

runMain(main);
