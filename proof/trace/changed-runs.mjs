#!/usr/bin/env node
// Changes recorded runs in one place at a time, and checks that the model refuses each of them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkRuns } from './check.mjs';
import { LEASE_CHANGES, RANGE_CHANGES, RANGES } from './run-changes.mjs';
import { readLogs } from './read-logs.mjs';

/** Worlds of the simulation: enough for each change to find its place. */
const WORLDS = 40;

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'leaf-changed-'));
try {
  const simulation = [join(root, 'test/long/simulation/run.mjs'), '--seeds', `${WORLDS}`, '--steps', folder];
  const { status } = spawnSync(process.execPath, simulation, { stdio: 'inherit' });
  if (status !== 0) throw new Error('The simulation failed.');
  const worlds = readdirSync(folder).map((seed) => readLogs(join(folder, seed)));
  const changed = [
    ...Object.entries(LEASE_CHANGES).map(([name, change]) => changedRun(name, change, worlds)),
    ...Object.entries(RANGE_CHANGES).map(([name, change]) => changedRun(name, change, [RANGES])),
  ];
  const unchanged = [...worlds, RANGES].map((lines, index) => ({ name: `unchanged ${index + 1}`, lines }));
  const { traces, steps, refusals } = await checkRuns([...unchanged, ...changed]);
  const accepted = changed.filter(({ name }) => !refusals.some((refusal) => refusal.startsWith(`${name}: `)));
  for (const refusal of refusals) console.log(`refused: ${refusal}`);
  for (const { name } of accepted) console.log(`ACCEPTED: ${name}`);
  const wrong = accepted.length + refusals.filter((refusal) => refusal.startsWith('unchanged')).length;
  console.log(`${unchanged.length} unchanged and ${changed.length} changed runs, ${traces} traces, ${steps} steps`);
  console.log(`\n${changed.length - accepted.length} passed, ${wrong} failed`);
  if (wrong > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The first run that has a place for the change, changed. */
function changedRun(name, change, runs) {
  for (const run of runs) {
    const lines = change(run);
    if (lines !== undefined && lines !== null && lines !== false) return { name, lines };
  }
  throw new Error(`No run has a place for the change "${name}".`);
}
