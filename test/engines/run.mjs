// node test/engines/run.mjs [--write-docs] [options of jest]: runs the tests on engines that the ordinary tests do not have.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSection } from '../../scripts/write-section.mjs';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'node_modules/.cache/leaf-engines/results');

const words = process.argv.slice(2);
const options = words.filter((word) => word !== '--write-docs');
// One engine after the other: each is some servers.
const limits = ['--maxWorkers=1', '--testTimeout=600000'];
const reporters = ['default', './test/engines/results.reporter.cjs'].map((reporter) => `--reporters=${reporter}`);
// The options first: --selectProjects and --reporters take all words that follow.
const jest = ['node_modules/jest/bin/jest.js', ...options, '--selectProjects', 'engines', ...reporters, ...limits];
const { status } = spawnSync(process.execPath, jest, { cwd: root, stdio: 'inherit' });
if (status === 0 && words.includes('--write-docs')) writeTable();
process.exitCode = status ?? 1;

/** The newest result of each engine. */
function writeTable() {
  mkdirSync(folder, { recursive: true });
  const names = readdirSync(folder).filter((name) =>
    existsSync(join(root, 'test/engines', name.replace('.json', '.engine.ts'))),
  );
  const results = names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const whole = results.filter(({ failed }) => failed === 0);
  for (const { engine } of results.filter((result) => !whole.includes(result))) {
    console.log(`Left out of the table, since its last run failed or was not whole: ${engine}`);
  }
  if (whole.some(({ load }) => load !== undefined)) writeEngines(whole);
  if (whole.some(({ faults }) => faults !== undefined)) writeFaults(whole);
}

function writeEngines(whole) {
  writeSection('test/engines/README.md', 'engines', [
    '| engine | version | day | tests passed | IDs under load | duplicates | calls refused meanwhile | what happened meanwhile |',
    '| --- | --- | --- | --: | --: | --: | --: | --- |',
    ...whole
      .filter(({ load }) => load !== undefined)
      .map(({ engine, version, date, passed, load }) =>
        row([engine, version, date, passed, ...numbers(load), load.disturbances.join('; ')]),
      ),
  ]);
}

function writeFaults(whole) {
  writeSection('test/engines/README.md', 'faults', [
    '| engine | version | day | fault | settings | rows confirmed | rows lost | allocations lost | row back by | tags moved | IDs | duplicates | calls refused |',
    '| --- | --- | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |',
    ...whole.flatMap(({ engine, version, date, faults = [] }) =>
      faults.map((each) => row([engine, version, date, each.fault, each.settings, ...costs(each)])),
    ),
  ]);
}

function row(cells) {
  return `| ${cells.join(' | ')} |`;
}

function costs({ rows, rowsLost, updatesLost, idsBack, moves, ids, duplicates, refused }) {
  return [rows, rowsLost, updatesLost, idsBack, moves, ids, duplicates, refused].map(grouped);
}

function numbers({ ids, duplicates, refused }) {
  return [ids, duplicates, refused].map(grouped);
}

function grouped(value) {
  return value.toLocaleString('en-GB');
}
