// Takes one rule after the other out, in a copy of the compiled sources, and plays worlds until that shows.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, transpile } from '../../../../scripts/run-typescript.mjs';
import { FOLDERS } from '../folders.mjs';
import { RULES } from './rules.mjs';

const root = join(import.meta.dirname, '../../../..');
/** Where the copy finds the packages of the repository. */
const cache = join(root, 'node_modules/.cache');

/** A change of the code changes what happens in a world. */
const KNOWN_WORLDS = 20;

/**
 * @param {string} wanted `all`, or the beginning of a rule
 * @param {readonly string[]} options of the simulation; of `--known`, the world that is known to show each rule, and
 *   those after it
 * @returns one row for each rule: how many worlds it took, and what was found; `found` is undefined when nothing was
 */
export function takeOut(wanted, options = ['--seeds', '3000']) {
  const rules = wanted === 'all' ? RULES : RULES.filter(({ rule, what }) => rule === wanted || what.startsWith(wanted));
  if (rules.length === 0)
    throw new Error(`There is no rule ${wanted}. Rules: ${RULES.map(({ rule }) => rule).join(', ')}`);
  mkdirSync(cache, { recursive: true });
  const copy = mkdtempSync(join(cache, 'leaf-sim-'));
  try {
    compile(copy, FOLDERS, root);
    return rules.map((rule) => play(copy, rule, options));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function play(copy, { rule, what, file, find, replace, until, seed, worlds: kind = 'lease' }, options) {
  const source = readFileSync(join(root, file), 'utf8');
  if (source.split(find).length !== 2) throw new Error(`${file} has no longer exactly one: ${find}`);
  const compiled = join(copy, file.replace(/\.ts$/, '.js'));
  const before = readFileSync(compiled, 'utf8');
  const broken = source.replace(find, () => replace);
  writeFileSync(compiled, transpile(broken, file, root));
  const which = options.includes('--known') ? ['--first', String(seed), '--seeds', String(KNOWN_WORLDS)] : options;
  const wanted = ['--json', '--until', until.join(','), '--worlds', kind, ...which];
  const args = [join(copy, 'test/long/simulation/run.js'), ...wanted];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  writeFileSync(compiled, before);
  const line = stdout.split('\n').find((each) => each.startsWith('{'));
  if (line === undefined) throw new Error(`${rule}: ${stderr}`);
  const { seeds, failure } = JSON.parse(line);
  return { rule, what, worlds: seeds, seed: failure?.seed, found: failure?.breach, message: failure?.message };
}

export function printTable(rows) {
  const lines = [
    ['rule', 'taken out', 'worlds', 'seed', 'found'],
    ...rows.map(({ rule, what, worlds, seed, found }) => [
      rule,
      what,
      `${worlds}`,
      `${seed ?? ''}`,
      found ?? 'NOTHING',
    ]),
  ];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}
