// node test/long/simulation/run.mjs [options]: compiles and runs the simulation.
import { runTypescript } from '../../../scripts/run-typescript.mjs';
import { printTable, takeOut } from './broken-rules/run.mjs';
import { FOLDERS } from './folders.mjs';

const [, , option, rule = 'all', ...options] = process.argv;
const asJson = options.includes('--as-json');
const rest = options.filter((each) => each !== '--as-json');
if (option === '--without') {
  const rows = takeOut(rule, rest.length > 0 ? rest : undefined);
  if (asJson) console.log(JSON.stringify(rows));
  else printTable(rows);
  if (!rows.every(({ found }) => found !== undefined)) process.exitCode = 1;
} else {
  runTypescript('test/long/simulation/run', FOLDERS, process.argv.slice(2));
}
