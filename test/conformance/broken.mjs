// node test/conformance/broken.mjs [client …] [--only <part of a description>]: takes one rule after the other out of a copy
// of each client (broken/<client>.json), and shows that the kit names it. Ends with 1 when one goes unnoticed.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, COPIED, copyOf, driverOf } from './clients.mjs';

const root = join(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  options: { only: { type: 'string', default: '' } },
  allowPositionals: true,
});
let [passed, failed] = [0, 0];
for (const client of positionals.length > 0 ? positionals : COPIED) proveAll(client);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function proveAll(client) {
  const variants = JSON.parse(readFileSync(join(import.meta.dirname, `broken/${client}.json`), 'utf8'));
  const { paths, build: buildCopy } = copyOf(client);
  build(client);
  const copy = mkdtempSync(join(tmpdir(), `leaf-broken-${client}-`));
  try {
    for (const path of paths) cpSync(join(root, path), join(copy, path), { recursive: true });
    for (const variant of variants.filter(({ broken }) => broken.includes(values.only))) {
      const undo = variant.edits.map((edit) => replace(copy, edit));
      buildCopy(copy);
      prove(client, copy, variant);
      for (const restore of undo.reverse()) restore();
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** @returns a function that restores the file */
function replace(copy, { file, find, replace: text }) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(find).length !== 2) throw new Error(`${file} does not have exactly one: ${find}`);
  writeFileSync(
    path,
    source.replace(find, () => text),
  );
  return () => writeFileSync(path, source);
}

function prove(client, copy, { broken, scenario, rule }) {
  const words = ['test/conformance/run.mjs', '--command', driverOf(client, copy).join(' '), '--only', scenario];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  const fault = stdout.split('\n').find((line) => line.startsWith(`FAILED: ${scenario}: ${rule} `));
  const isCaught = status === 1 && fault !== undefined;
  if (isCaught) passed++;
  else failed++;
  const result = isCaught ? `caught: ${client}: ${broken}\n  ${fault}` : `NOT CAUGHT: ${client}: ${broken}\n${stdout}`;
  process.stdout.write(`${result}\n`);
}
