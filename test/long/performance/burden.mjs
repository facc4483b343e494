// node test/long/performance/burden.mjs [runs]: shows that each guard of costs.spec.ts catches a regression of 30 %. Runs
// the guards while every path does 1.3 times its work and the baselines do not; each of them must fail in every run.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RUNS = Number(process.argv[2] ?? 3);
const ROOT = join(import.meta.dirname, '../../..');
const OUTPUT = join(tmpdir(), `leaf-burden-${process.pid}.json`);
const GUARD = /: /;

const missed = [];
for (let run = 1; run <= RUNS; run++) {
  const guards = runGuards().filter(({ title }) => GUARD.test(title));
  // A guard that could not measure has caught nothing.
  const caught = guards.filter(({ failureMessages }) => failureMessages.some((text) => text.includes('toBeLessThan')));
  console.log(`run ${run} of ${RUNS}: ${caught.length} of ${guards.length} guards caught the regression`);
  const others = guards.filter((guard) => !caught.includes(guard));
  missed.push(...others.map(({ title, failureMessages: [reason = 'it passed'] }) => `${title}: ${reason}`));
  if (guards.length === 0) missed.push('all: no guard ran');
}
for (const title of missed) console.error(`MISSED: ${title}`);
process.exit(missed.length === 0 ? 0 : 1);

function runGuards() {
  const suite = ['test/long/performance/costs', '--selectProjects', 'long'];
  const words = [...suite, '--json', `--outputFile=${OUTPUT}`, '--maxWorkers=1'];
  const env = { ...process.env, LEAF_COST_BURDEN: '1.3' };
  spawnSync(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), ...words], { cwd: ROOT, env });
  const { testResults } = JSON.parse(readFileSync(OUTPUT, 'utf8'));
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}
