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
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'engines', ...limits, ...reporters, ...options];
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
  const lines = [
    '| engine | version | day | tests passed | IDs under load | duplicates | calls refused meanwhile | what happened meanwhile |',
    '| --- | --- | --- | --: | --: | --: | --: | --- |',
    ...whole.map(
      ({ engine, version, date, passed, load }) =>
        `| ${[engine, version, date, passed, ...numbers(load), load.disturbances.join('; ')].join(' | ')} |`,
    ),
  ];
  writeSection('test/engines/README.md', 'engines', lines);
}

function numbers({ ids, duplicates, refused }) {
  return [ids, duplicates, refused].map((value) => value.toLocaleString('en-GB'));
}
