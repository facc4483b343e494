import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '@leaf-ids/core/internal';
import { whole } from '../../support/whole';
import { runMain } from '../../support/servers/run-main';
import { DATABASES, runStrict, type StrictOutcome } from './strict-run';

const USAGE = `npm run strict -- --operations 1000000      so many answered calls; 100,000 unless told
npm run strict -- --database mariadb        or postgres; one after the other unless told
npm run strict -- --server <main.js>        another build of the server`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      operations: { type: 'string', default: '100000' },
      database: { type: 'string' },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
    },
  });
  const operations = Number(values.operations);
  if (!(operations > 0)) throw new Error(`--operations must be a number above 0.\n${USAGE}`);
  const databases = Object.keys(DATABASES).filter(isDatabase);
  const wanted = databases.filter((name) => values.database === undefined || values.database === name);
  if (wanted.length === 0) throw new Error(`There is no database ${values.database}.\n${USAGE}`);
  const say = (line: string): void => console.error(line);
  const rows: string[][] = [];
  for (const database of wanted) {
    const outcome = await runStrict({ database, operations, serverFile: resolve(values.server), say });
    rows.push([database, ...rowOf(outcome)]);
    const refusals = Array.from(outcome.refusals, ([code, count]) => `${whole(count)} ${code}`);
    console.error(`${database}, calls without an ID: ${refusals.join(', ') || 'none'}`);
    for (const { earlier, later } of outcome.violations.slice(0, 3)) {
      console.error(`${JSON.stringify(later)} started after the end of ${JSON.stringify(earlier)}`);
    }
    const { violations, disordered, duplicates, faults } = outcome;
    for (const fault of faults.slice(0, 3)) console.error(fault);
    if (violations.length + disordered.length + duplicates + faults.length > 0) process.exitCode = 1;
  }
  console.log(`\n${table(['', ...HEADER], rows).join('\n')}`);
}

const HEADER = [
  'operations',
  'IDs',
  'seconds',
  'kills',
  'failovers',
  'IDs lost',
  'refused',
  'violations',
  'disordered',
  'duplicates',
  'faults',
];

function rowOf(outcome: StrictOutcome): string[] {
  const { operations, ids, seconds, kills, failovers, lost, refusals, violations, disordered, duplicates, faults } =
    outcome;
  const refused = [...refusals.values()].reduce((sum, count) => sum + count, 0);
  return [operations, ids, seconds, kills, failovers, lost, refused, violations, disordered, duplicates, faults]
    .map((value) => (typeof value === 'number' ? value : value.length))
    .map(whole);
}

function isDatabase(name: string): name is keyof typeof DATABASES {
  return name in DATABASES;
}

runMain(main);
