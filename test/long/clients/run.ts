import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { seedOfRun } from '../../support/seeds';
import { runMain } from '../../support/servers/run-main';
import { runJoint } from './joint-run';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      commands: { type: 'string' },
      processes: { type: 'string', default: '8' },
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(seedOfRun()) },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
    },
  });
  const seed = Number(values.seed);
  console.log(`Seed ${seed}`);
  const outcome = await runJoint({
    commands: JSON.parse(values.commands ?? '{}') as Record<string, string[]>,
    processes: Number(values.processes),
    minutes: Number(values.minutes),
    seed,
    serverFile: resolve(values.server),
    say: (line) => console.log(line),
  });
  console.log(JSON.stringify({ seed, ...outcome }, undefined, 2));
  const { duplicates, unexpected, traces } = outcome;
  if (duplicates.length + unexpected.length + traces.refused.length > 0) process.exitCode = 1;
}

runMain(main);
