// node test/conformance/broken.mjs [client …] [--only <part of a description>]: takes one rule after the other out of a copy
// of each client (broken/<client>.json), and shows that the kit names it. Ends with 1 when one goes unnoticed. With --joint
// 2, shows that a joint run of so many minutes finds IDs issued twice, for the rule whose removal leads to them so soon.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, COPIED, copyOf, driverOf } from './clients.mjs';

const root = join(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  options: { only: { type: 'string', default: '' }, joint: { type: 'string' } },
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
    for (const variant of variants.filter(isWanted)) {
      const undo = variant.edits.map((edit) => replace(copy, edit));
      buildCopy(copy);
      tell(client, variant, (values.joint === undefined ? prove : proveTogether)(driverOf(client, copy), variant));
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

function isWanted({ broken, joint }) {
  return broken.includes(values.only) && (values.joint === undefined || joint);
}

/** @returns the line that names the fault, undefined without one, and the output */
function prove(driver, { scenario, rule }) {
  const words = ['test/conformance/run.mjs', '--command', driver.join(' '), '--only', scenario];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  const fault = stdout.split('\n').find((line) => line.startsWith(`FAILED: ${scenario}: ${rule} `));
  return { fault: status === 1 ? fault : undefined, stdout };
}

/** As {@link prove}, with processes of this client alone. */
function proveTogether(driver) {
  const words = ['test/long/clients/run.mjs', '--clients', '', '--command', driver.join(' ')];
  const options = [...words, '--processes', '16', '--minutes', values.joint];
  const { status, stdout } = spawnSync(process.execPath, options, { cwd: root, encoding: 'utf8' });
  return { fault: status === 1 ? /\d+ of .* is within .*(?=")/.exec(stdout)?.[0] : undefined, stdout };
}

function tell(client, { broken }, { fault, stdout }) {
  if (fault !== undefined) passed++;
  else failed++;
  const result =
    fault === undefined ? `NOT CAUGHT: ${client}: ${broken}\n${stdout}` : `caught: ${client}: ${broken}\n  ${fault}`;
  process.stdout.write(`${result}\n`);
}
