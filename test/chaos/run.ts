import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../support/run-main';
import { runChaos } from './chaos-run';
import { describe, folderOf, writeDocument, writeReports } from './report/reports';
import { summarize } from './report/summary';
import { KINDS } from './schedule';

const USAGE = `npm run chaos -- --minutes 30              so long; 3 unless told
npm run chaos -- --seed 4711               the same faults in the same order as every run of that seed
npm run chaos -- --kinds server-kill,…     these kinds only
npm run chaos -- --busy                    others use this machine, too: refusals for want of time are expected
npm run chaos -- --server <main.js>        another build of the server
npm run chaos -- --seed 4711 --write-docs  no run: puts the table of the last one into docs/reliability.md
Kinds: ${KINDS.join(' ')}`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 1_000_000)) },
      kinds: { type: 'string', default: KINDS.join(',') },
      busy: { type: 'boolean', default: false },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
      'write-docs': { type: 'boolean', default: false },
    },
  });
  const seed = positive('seed', values.seed);
  if (values['write-docs']) {
    console.log(writeDocument(seed));
    return;
  }
  const minutes = positive('minutes', values.minutes);
  const kinds = values.kinds.split(',');
  const unknown = kinds.find((kind) => !KINDS.includes(kind));
  if (unknown !== undefined) throw new Error(`There is no kind of fault ${unknown}.\n${USAGE}`);
  const folder = folderOf(seed);
  console.log(`Seed ${seed}, ${minutes} minutes. Reports and logs: ${folder}`);
  const serverFile = resolve(values.server);
  const say = (line: string): void => console.log(line);
  const outcome = await runChaos({ seed, minutes, kinds, busy: values.busy, serverFile, folder, say });
  const summary = summarize(seed, outcome);
  writeReports(folder, summary, outcome);
  console.log(`\n${describe(summary)}\n`);
  const only = `${values.kinds === KINDS.join(',') ? '' : ` --kinds ${values.kinds}`}${values.busy ? ' --busy' : ''}`;
  console.log(
    summary.passed ? 'Passed.' : `FAILED. Once more: npm run chaos -- --seed ${seed} --minutes ${minutes}${only}`,
  );
  if (!summary.passed) process.exitCode = 1;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`--${name} must be a number above 0, not ${text}.\n${USAGE}`);
}

runMain(main);
