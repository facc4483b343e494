// npm run mutation -- [--part core,client] [--mutate files] [--tests pattern] [--concurrency 2] [--force] [--table] [--write-docs]
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { writeSection } from '../../scripts/write-section.mjs';
import { cache, strykerOptions } from './options.mjs';
import { parts } from './parts.mjs';

/** The run fails below it, in percent, for each part. */
const THRESHOLD = 90;
const HEADER = ['part', 'files', 'mutants', 'killed', 'timeout', 'survived', 'uncovered', 'score', 'date', 'revision'];
const SCORE = HEADER.indexOf('score');

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    part: { type: 'string' },
    mutate: { type: 'string' },
    tests: { type: 'string' },
    concurrency: { type: 'string', default: '2' },
    force: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
    'write-docs': { type: 'boolean', default: false },
  },
});
const chosen = choose(values.part?.split(','));
process.chdir(root);
if (!values.table) for (const part of chosen) await measure(part);
report();

function choose(names = parts.map(({ name }) => name)) {
  return names.map((name) => {
    const part = parts.find((each) => each.name === name);
    if (part === undefined) throw new Error(`No part ${name}; there are ${parts.map((each) => each.name).join(', ')}`);
    return part;
  });
}

async function measure(part) {
  const mutate = values.mutate?.split(',') ?? part.mutate;
  const { force, tests, concurrency } = values;
  const tested = tests === undefined ? part : { ...part, tests: [tests] };
  await new Stryker({ ...strykerOptions(tested, mutate, Number(concurrency)), force }).runMutationTest();
  const revision = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  writeFileSync(runOf(part), JSON.stringify({ date: new Date().toISOString().slice(0, 10), revision }));
}

function report() {
  const rows = parts.filter((part) => existsSync(runOf(part))).map(rowOf);
  const table = tableOf(rows);
  console.log(table.join('\n'));
  if (values['write-docs']) writeSection('test/mutation/README.md', 'mutation', table);
  const below = rows.filter((row) => chosen.some(({ name }) => name === row[0]) && row[SCORE] < THRESHOLD);
  if (below.length === 0) return;
  console.error(`Below a score of ${THRESHOLD} %: ${below.map(([name]) => name).join(', ')}`);
  process.exitCode = 1;
}

/** A table as the formatter of this repository wants it. */
function tableOf(rows) {
  const isText = (column) => column === 0 || column > SCORE;
  const cells = [HEADER, ...rows].map((row) => row.map(String));
  const widths = HEADER.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const pad = (row) => row.map((cell, n) => (isText(n) ? cell.padEnd(widths[n]) : cell.padStart(widths[n])));
  const rule = widths.map((width, n) => (isText(n) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [pad(cells[0]), rule, ...cells.slice(1).map(pad)].map((row) => `| ${row.join(' | ')} |`);
}

/** What the last runs of a part found, in all files that were changed. */
function rowOf(part) {
  const { files } = read(`${cache}/${part.name}.json`);
  const changed = Object.values(files).filter((file) => file.mutants.length > 0);
  const mutants = changed.flatMap((file) => file.mutants);
  const count = (status) => mutants.filter((mutant) => mutant.status === status).length;
  const [killed, timeout, survived, uncovered] = ['Killed', 'Timeout', 'Survived', 'NoCoverage'].map(count);
  const total = killed + timeout + survived + uncovered;
  const score = ((100 * (killed + timeout)) / total).toFixed(1);
  const { date, revision } = read(runOf(part));
  return [part.name, changed.length, total, killed, timeout, survived, uncovered, score, date, revision];
}

function runOf(part) {
  return `${cache}/${part.name}.run.json`;
}

function read(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
