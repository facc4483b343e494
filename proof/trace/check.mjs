#!/usr/bin/env node
// Checks that step logs are a behaviour of the model:  node proof/trace/check.mjs <directory of a run>…
import { pathToFileURL } from 'node:url';
import { follow } from './follow.mjs';
import { leaseTraces } from './lease-traces.mjs';
import { rangeTraces } from './range-traces.mjs';
import { InvalidLog, readLogs } from './read-logs.mjs';

/**
 * Checks the step logs of several runs.
 *
 * @param runs `{ name, lines }`: the lines of all processes, in order
 * @returns `{ traces, steps, refusals }`: a refusal names the step that no behaviour of the model has
 */
export async function checkRuns(runs) {
  const leases = runs.flatMap(({ name, lines }) => named(name, leaseTraces(lines)));
  const ranges = runs.flatMap(({ name, lines }) => named(name, rangeTraces(lines)));
  const refusals = [...(await follow('LeaseTrace', leases)), ...(await follow('RangeTrace', ranges))];
  const steps = [...leases, ...ranges].reduce((sum, { lines }) => sum + lines.length, 0);
  return { traces: leases.length + ranges.length, steps, refusals };
}

function named(run, traces) {
  return traces.map((trace) => ({ ...trace, name: `${run}: ${trace.name}` }));
}

async function main(directories) {
  if (directories.length === 0) throw new Error('Usage: node proof/trace/check.mjs <directory of a run>…');
  const runs = [];
  const invalid = [];
  for (const directory of directories) {
    try {
      runs.push({ name: directory, lines: readLogs(directory) });
    } catch (error) {
      if (!(error instanceof InvalidLog)) throw error;
      invalid.push(`${directory}: ${error.message}`);
    }
  }
  const { traces, steps, refusals } = await checkRuns(runs);
  const refused = [...invalid, ...refusals];
  for (const refusal of refused) console.log(refusal);
  console.log(`${directories.length} runs, ${traces} traces, ${steps} steps`);
  console.log(`\n${traces - refusals.length} passed, ${refused.length} failed`);
  if (refused.length > 0 || traces === 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
