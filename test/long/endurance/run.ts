import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../../support/servers/run-main';
import { runEndurance } from './endurance-run';
import { describe, markdownOf } from './report';

const USAGE = 'node test/long/endurance/run.mjs --minutes 30   so long; 3 unless told';
const FOLDER = 'node_modules/.cache/leaf-endurance';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '3' } } });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not ${values.minutes}.\n${USAGE}`);
  const root = process.cwd();
  const folder = join(root, FOLDER);
  mkdirSync(folder, { recursive: true });
  console.log(`${minutes} minutes. Report and logs: ${folder}`);
  const end = performance.now() + minutes * 60_000;
  const goesOn = (): boolean => performance.now() < end;
  const outcome = await runEndurance({ goesOn, root, folder, say: (line) => console.log(line) });
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(outcome, undefined, 2)}\n`);
  writeFileSync(join(folder, 'summary.md'), `${markdownOf(outcome)}\n`);
  console.log(`\n${describe(outcome)}`);
  if (outcome.courses.some(({ flat }) => !flat)) process.exitCode = 1;
}

runMain(main);
