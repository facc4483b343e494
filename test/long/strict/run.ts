import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '@leaf-ids/core/internal';
import { whole } from '../../support/whole';
import { runMain } from '../../support/servers/run-main';
import { Porcupine } from './porcupine';
import { DATABASES, runStrict, type StrictOutcome } from './strict-run';

const USAGE = `npm run strict -- --operations 1000000      so many answered calls (100,000 by default)
npm run strict -- --database mariadb        or postgres; by default one after the other
npm run strict -- --server <main.js>        another build of the server
npm run strict -- --history <folder>        writes the calls to <database>.jsonl there
npm run strict -- --porcupine               has Porcupine judge them too; needs Go`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      operations: { type: 'string', default: '100000' },
      database: { type: 'string' },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
      history: { type: 'string' },
      porcupine: { type: 'boolean', default: false },
    },
  });
  const operations = Number(values.operations);
  if (!(operations > 0)) throw new Error(`--operations must be a number above 0.\n${USAGE}`);
  const databases = Object.keys(DATABASES).filter(isDatabase);
  const wanted = databases.filter((name) => values.database === undefined || values.database === name);
  if (wanted.length === 0) throw new Error(`There is no database ${values.database}.\n${USAGE}`);
  const say = (line: string): void => console.error(line);
  const rows: string[][] = [];
  // Before the run: it takes long, and the tool may be missing.
  const porcupine = values.porcupine ? await Porcupine.build() : undefined;
  const folder = await historyFolder(values.history, values.porcupine);
  for (const database of wanted) {
    const historyFile = folder && join(folder, `${database}.jsonl`);
    const outcome = await runStrict({ database, operations, serverFile: resolve(values.server), historyFile, say });
    if (porcupine !== undefined && historyFile !== undefined) {
      const { isLinearizable, text } = await porcupine.judge(historyFile);
      console.error(text);
      if (!isLinearizable) process.exitCode = 1;
    }
    rows.push([database, ...rowOf(outcome)]);
    const refusals = Array.from(outcome.refusals, ([code, count]) => `${whole(count)} ${code}`);
    console.error(`${database}, calls without an ID: ${refusals.join(', ') || 'none'}`);
    for (const { earlier, later } of outcome.violations.slice(0, 3)) {
      console.error(`${JSON.stringify(later)} started after the end of ${JSON.stringify(earlier)}`);
    }
    const { violations, disordered, duplicates, faults, traces } = outcome;
    for (const fault of [...faults.slice(0, 3), ...traces.refused]) console.error(fault);
    if (violations.length + disordered.length + duplicates + faults.length + traces.refused.length > 0)
      process.exitCode = 1;
  }
  console.log(`\n${table(['', ...HEADER], rows).join('\n')}`);
  await porcupine?.remove();
  if (folder !== undefined && values.history === undefined) await rm(folder, { recursive: true });
}

/** The folder for the files of histories: the wanted one, or one for Porcupine alone. */
async function historyFolder(wanted: string | undefined, isNeeded: boolean): Promise<string | undefined> {
  if (wanted !== undefined) await mkdir(wanted, { recursive: true });
  return wanted ?? (isNeeded ? mkdtemp(join(tmpdir(), 'leaf-histories-')) : undefined);
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
