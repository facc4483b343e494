import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { brokenRules } from './broken-rules';
import { FAULTS } from './faults';
import { describeFailure, replay } from './seeds';
import { type Batch, optionsOf } from './seeds-worker';
import { addTotals, noTotals, type Totals } from './totals';

const USAGE = `npm run sim -- --seeds 10000           plays that many seeds (1000 unless told)
npm run sim -- --seeds 10000 --first 1 the first of them
npm run sim -- --seed 4711             plays one again and prints every step
npm run sim -- --without R3            with the rule of that name out of force, until an ID comes twice`;

const BATCH = 50;
const LAST_STEPS = 60;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      first: { type: 'string', default: '1' },
      seed: { type: 'string' },
      without: { type: 'string' },
    },
  });
  const without = values.without === undefined ? undefined : ruleOf(values.without);
  if (values.seed !== undefined) return playOne(whole('seed', values.seed), without);
  await playMany(whole('first', values.first), whole('seeds', values.seeds), without);
}

function ruleOf(begin: string): string {
  const rule = brokenRules.find(({ name }) => name.startsWith(begin));
  if (rule !== undefined) return rule.name;
  throw new Error(`There is no rule ${begin}. Rules:\n${brokenRules.map(({ name }) => name).join('\n')}`);
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value < 2 ** 31) return value;
  throw new Error(`--${name} must be a whole number from 1 to 2147483647, not ${text}.\n${USAGE}`);
}

async function playOne(seed: number, without: string | undefined): Promise<void> {
  const { trace, totals } = await replay(seed, optionsOf(without));
  console.log(trace.join('\n'));
  report(totals, 0);
  if (totals.failure !== undefined) process.exitCode = 1;
}

async function playMany(first: number, seeds: number, without: string | undefined): Promise<void> {
  const began = performance.now();
  const totals = await inParallel(first, seeds, without);
  report(totals, performance.now() - began);
  if (totals.failure === undefined) return;
  process.exitCode = 1;
  const { seed, step, message } = totals.failure;
  const again = await replay(seed, optionsOf(without));
  console.log(`\nThe last steps of seed ${seed}:\n${again.trace.slice(-LAST_STEPS).join('\n')}`);
  const { failure } = again.totals;
  const same = failure?.step === step && failure.message === message;
  const how = without === undefined ? '' : ` --without '${without}'`;
  console.log(
    same ? `npm run sim -- --seed ${seed}${how} plays it again.` : 'The replay went another way: it is not exact.',
  );
}

/** One thread a processor, each with the next batch when it has finished one, until a seed has failed. */
async function inParallel(first: number, seeds: number, without: string | undefined): Promise<Totals> {
  const totals = noTotals();
  const end = first + seeds;
  let next = first;
  let told = 0;
  const work = async (): Promise<void> => {
    const worker = new Worker(join(__dirname, 'seeds-worker.js'));
    try {
      while (next < end && totals.failure === undefined) {
        const batch: Batch = { first: next, count: Math.min(BATCH, end - next), without };
        next += batch.count;
        addTotals(totals, await played(worker, batch));
        if (totals.seeds - told < 1000) continue;
        told = totals.seeds;
        console.error(`${grouped(told)} of ${grouped(seeds)} seeds, ${grouped(totals.ids)} IDs …`);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return totals;
}

function played(worker: Worker, batch: Batch): Promise<Totals> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (totals: Totals) => {
      worker.off('error', reject);
      resolve(totals);
    });
    worker.postMessage(batch);
  });
}

function report({ seeds, ids, steps, acquired, released, lost, faults, failure }: Totals, ms: number): void {
  const rows: (readonly [string, number])[] = [
    ['seeds', seeds],
    ['IDs checked', ids],
    ['steps', steps],
    ['leases acquired', acquired],
    ['leases released', released],
    ['leases lost', lost],
    ['faults injected', FAULTS.reduce((sum, fault) => sum + faults[fault], 0)],
    ...FAULTS.map((fault) => [`  ${fault}`, faults[fault]] as const),
  ];
  console.log(rows.map(([name, value]) => `${name.padEnd(26)}${grouped(value).padStart(15)}`).join('\n'));
  if (ms > 0) console.log(`${'time'.padEnd(26)}${`${(ms / 1000).toFixed(1)} s`.padStart(15)}`);
  console.log(failure === undefined ? 'No rule was broken.' : `FAILED: ${describeFailure(failure)}`);
}

function grouped(value: number): string {
  return value.toLocaleString('en-GB');
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
