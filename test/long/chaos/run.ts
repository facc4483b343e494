import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../../support/servers/run-main';
import { runChaos } from './chaos-run';
import { describe, folderOf, writeDocument, writeReports } from './report/reports';
import { summarize } from './report/summary';
import { KINDS, kindsOf } from './schedule';
import { type DatabaseKind, DATABASES } from './world/database';

const USAGE = `npm run chaos -- --minutes 30              so long; 3 unless told
npm run chaos -- --database postgres       on PostgreSQL, with PgBouncer; mariadb unless told
npm run chaos -- --seed 4711               the same faults in the same order as every run of that seed
npm run chaos -- --kinds server-kill,…     these kinds only
npm run chaos -- --busy                    others use this machine, too: refusals for want of time are expected
npm run chaos -- --server <main.js>        another build of the server
npm run chaos -- --seed 4711 --write-docs  no run: puts the table of the last one into docs/reliability.md, below its database
Kinds: ${KINDS.join(' ')}`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      database: { type: 'string', default: 'mariadb' },
      minutes: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 1_000_000)) },
      kinds: { type: 'string' },
      busy: { type: 'boolean', default: false },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
      'write-docs': { type: 'boolean', default: false },
    },
  });
  const seed = positive('seed', values.seed);
  const database = databaseOf(values.database);
  if (values['write-docs']) {
    console.log(writeDocument(database, seed));
    return;
  }
  const minutes = positive('minutes', values.minutes);
  const possible = kindsOf(database);
  const kinds = values.kinds?.split(',') ?? possible;
  const unknown = kinds.find((kind) => !possible.includes(kind));
  if (unknown !== undefined) throw new Error(`There is no kind of fault ${unknown} on ${database}.\n${USAGE}`);
  const folder = folderOf(database, seed);
  console.log(`Seed ${seed}, ${minutes} minutes on ${database}. Reports and logs: ${folder}`);
  const serverFile = resolve(values.server);
  const say = (line: string): void => console.log(line);
  const outcome = await runChaos({ database, seed, minutes, kinds, busy: values.busy, serverFile, folder, say });
  const summary = summarize(database, seed, outcome);
  writeReports(folder, summary, outcome);
  console.log(`\n${describe(summary)}\n`);
  const only = `${values.kinds === undefined ? '' : ` --kinds ${values.kinds}`}${values.busy ? ' --busy' : ''}`;
  const again = `npm run chaos -- --database ${database} --seed ${seed} --minutes ${minutes}${only}`;
  console.log(summary.passed ? 'Passed.' : `FAILED. Once more: ${again}`);
  if (!summary.passed) process.exitCode = 1;
}

function databaseOf(text: string): DatabaseKind {
  const database = DATABASES.find((name) => name === text);
  if (database !== undefined) return database;
  throw new Error(`--database must be one of ${DATABASES.join(', ')}, not ${text}.\n${USAGE}`);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`--${name} must be a number above 0, not ${text}.\n${USAGE}`);
}

runMain(main);
