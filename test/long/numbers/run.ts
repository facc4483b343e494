import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '@leaf-ids/core/internal';
import { runMain } from '../../support/servers/run-main';
import { whole } from '../../support/whole';
import { DATABASES, runNumbers } from './numbers-run';

const USAGE = `npm run numbers -- --seconds 1800           for each database; 60 unless told
npm run numbers -- --database mariadb       or postgres; one after the other unless told
npm run numbers -- --server <main.js>       another build of the server`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      database: { type: 'string' },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
    },
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0.\n${USAGE}`);
  const names = Object.keys(DATABASES) as (keyof typeof DATABASES)[];
  const wanted = names.filter((name) => values.database === undefined || values.database === name);
  if (wanted.length === 0) throw new Error(`There is no database ${values.database}.\n${USAGE}`);
  const say = (line: string): void => console.error(line);
  const rows: string[][] = [];
  for (const database of wanted) {
    const outcome = await runNumbers({ database, seconds, serverFile: resolve(values.server), say });
    const { numbers, answers, retried, rolledBack, injected, refusals, faults } = outcome;
    rows.push([database, ...[numbers, answers, retried, rolledBack, injected, faults.length].map(whole)]);
    const refused = Array.from(refusals, ([code, count]) => `${whole(count)} ${code}`);
    console.error(`${database}, calls without an answer: ${refused.join(', ') || 'none'}`);
    for (const fault of faults.slice(0, 10)) console.error(`fault: ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  }
  const header = ['', 'numbers', 'answers', 'asked again', 'rolled back', 'injected faults', 'faults'];
  console.log(`\n${table(header, rows).join('\n')}`);
}

runMain(main);
