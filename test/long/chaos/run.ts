import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { seedOfRun } from '../../support/seeds';
import { runMain } from '../../support/servers/run-main';
import { runChaos } from './chaos-run';
import { describe, folderOf, writeDocument, writeReports } from './report/reports';
import { summarize } from './report/summary';
import { KINDS, kindsOf } from './schedule';
import { type CoordinatorKind, COORDINATORS } from './world/coordinator';
import { type DatabaseKind, DATABASES } from './world/database';

const USAGE = `npm run chaos -- --minutes 30              so long; 3 unless told
npm run chaos -- --database postgres       on PostgreSQL, with PgBouncer; mariadb unless told
npm run chaos -- --coordinator etcd        servers on etcd and on Kubernetes in place of ZooKeeper
npm run chaos -- --seed 4711               the same faults in the same order as every run of that seed; the UTC date unless told
npm run chaos -- --kinds server-kill,…     these kinds only
npm run chaos -- --busy                    others use this machine, too: refusals for want of time are expected
npm run chaos -- --server <main.js>        another build of the server
npm run chaos -- --seed 4711 --write-docs  no run: puts the table of the last one into test/long/chaos/README.md, below its database and coordinator
Kinds: ${KINDS.join(' ')}`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      database: { type: 'string', default: 'mariadb' },
      coordinator: { type: 'string', default: 'zookeeper' },
      minutes: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(seedOfRun()) },
      kinds: { type: 'string' },
      busy: { type: 'boolean', default: false },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
      'write-docs': { type: 'boolean', default: false },
    },
  });
  const seed = positive('seed', values.seed);
  const database: DatabaseKind = oneOf('database', DATABASES, values.database);
  const coordinator: CoordinatorKind = oneOf('coordinator', COORDINATORS, values.coordinator);
  const place = coordinator === 'zookeeper' ? database : `${database}-${coordinator}`;
  if (values['write-docs']) {
    console.log(writeDocument(place, seed));
    return;
  }
  const minutes = positive('minutes', values.minutes);
  const possible = kindsOf(database, coordinator);
  const kinds = values.kinds?.split(',') ?? possible;
  const unknown = kinds.find((kind) => !possible.includes(kind));
  if (unknown !== undefined)
    throw new Error(`There is no kind of fault ${unknown} on ${database} and ${coordinator}.\n${USAGE}`);
  const folder = folderOf(place, seed);
  console.log(`Seed ${seed}, ${minutes} minutes on ${database} and ${coordinator}. Reports and logs: ${folder}`);
  const serverFile = resolve(values.server);
  const say = (line: string): void => console.log(line);
  const outcome = await runChaos({
    database,
    coordinator,
    seed,
    minutes,
    kinds,
    busy: values.busy,
    serverFile,
    folder,
    say,
  });
  const summary = summarize(place, seed, outcome);
  writeReports(folder, summary, outcome);
  console.log(`\n${describe(summary)}\n`);
  const only = `${values.kinds === undefined ? '' : ` --kinds ${values.kinds}`}${values.busy ? ' --busy' : ''}`;
  const again = `npm run chaos -- --database ${database} --coordinator ${coordinator} --seed ${seed} --minutes ${minutes}${only}`;
  console.log(summary.passed ? 'Passed.' : `FAILED. Once more: ${again}`);
  if (!summary.passed) process.exitCode = 1;
}

function oneOf<T extends string>(option: string, names: readonly T[], text: string): T {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  throw new Error(`--${option} must be one of ${names.join(', ')}, not ${text}.\n${USAGE}`);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`--${name} must be a number above 0, not ${text}.\n${USAGE}`);
}

runMain(main);
