// node test/long/chaos/broken/run.mjs [part of a rule]: breaks one rule after the other in a copy of the sources, and shows
// what catches it. Ends with 1 when one goes unnoticed.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MUTATIONS } from './mutations.mjs';

const root = join(import.meta.dirname, '../../../..');
const wanted = MUTATIONS.filter(({ rule }) => rule.includes(process.argv[2] ?? ''));
const copy = mkdtempSync(join(tmpdir(), 'leaf-broken-'));
// Compiled files of broken sources must not land among those of the true ones.
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(1));

copySources();
const rows = wanted.map(prove);
console.log(`\n${table([['rule taken out', 'caught by', 'in', 'how'], ...rows.map(({ cells }) => cells)])}`);
if (!rows.every(({ caught }) => caught)) process.exitCode = 1;

function copySources() {
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const file of stdout.split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  }
}

function prove({ rule, edits, prove: [tool, ...options], sign }) {
  console.error(`${rule} …`);
  const before = edits.map(({ file }) => readFileSync(join(copy, file), 'utf8'));
  edits.forEach(({ file, find, replace }) => {
    const text = readFileSync(join(copy, file), 'utf8');
    if (text.split(find).length !== 2) throw new Error(`${file} has no longer exactly one: ${find}`);
    writeFileSync(
      join(copy, file),
      text.replace(find, () => replace),
    );
  });
  const began = performance.now();
  const { status, stdout, stderr } = run(tool, options);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  edits.forEach(({ file }, index) => writeFileSync(join(copy, file), before[index]));
  const output = `${stdout}\n${stderr}`;
  const caught = status !== 0 && sign.test(output);
  if (!caught) console.error(output.slice(-4000));
  const how = caught ? sign.exec(output)[0].replace('● ', '').slice(0, 110) : 'NOT CAUGHT';
  return { caught, cells: [rule, nameOf(tool, options), `${seconds} s`, how] };
}

function run(tool, options) {
  const inCopy = { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 28 };
  switch (tool) {
    case 'jest':
      return spawnSync(process.execPath, ['node_modules/jest/bin/jest.js', ...options], inCopy);
    case 'sim':
      return spawnSync(process.execPath, ['test/long/simulation/run.mjs', ...options], inCopy);
    case 'chaos':
    case 'numbers':
    case 'strict': {
      const build = spawnSync(process.execPath, ['scripts/ensure-build.mjs'], inCopy);
      if (build.status !== 0) throw new Error(`The broken server cannot be built: ${build.stderr}`);
      return spawnSync(process.execPath, [`test/long/${tool}/run.mjs`, ...options], inCopy);
    }
    default:
      throw new Error(`There is no tool ${tool}`);
  }
}

function nameOf(tool, [first, second]) {
  return tool === 'jest' ? first : `npm run ${tool} -- ${first} ${second}`;
}

function table(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
