import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Breach } from './ledger';
import { report } from './report';
import { describeFailure, replay, shrinkSeed } from './seeds';
import type { Batch } from './seeds-worker';
import { addTotals, noTotals, type Totals } from './totals';
import { simulate, type SimulationOptions } from './world';

const USAGE = `npm run sim -- --seeds 10000            plays that many worlds (1000 unless told)
npm run sim -- --seeds 10000 --first 1  the first of them
npm run sim -- --seed 4711              plays one again, prints every step, and shrinks it when it fails
npm run sim -- --seed 4711 --keep 3,17  with only those of its faults
npm run sim -- --without R3             with a rule taken out, until that shows; --without all: every rule`;

const BATCH = 50;
const LAST_STEPS = 60;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      first: { type: 'string', default: '1' },
      seed: { type: 'string' },
      keep: { type: 'string' },
      until: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
    },
  });
  const until = values.until?.split(',') as Breach[] | undefined;
  if (values.seed !== undefined) return playOne(whole('seed', values.seed), values.keep, until);
  const threads = whole('threads', values.threads);
  const totals = await inParallel(whole('first', values.first), whole('seeds', values.seeds), threads, until);
  if (values.json) console.log(JSON.stringify(totals));
  else await tell(totals, until);
  if (totals.failure !== undefined) process.exitCode = 1;
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value < 2 ** 31) return value;
  throw new Error(`--${name} must be a whole number from 1 to 2147483647, not ${text}.\n${USAGE}`);
}

async function playOne(seed: number, keep: string | undefined, until: readonly Breach[] | undefined): Promise<void> {
  const { schedule } = await simulate(seed, { faults: [] }).then(() => simulate(seed));
  const kept = keep?.split(',').flatMap((index) => schedule[Number(index)] ?? []);
  const options: SimulationOptions = { ...(until && { until }), ...(kept && { faults: kept }) };
  const { trace, totals } = await replay(seed, options);
  console.log(trace.join('\n'));
  report(totals, 0);
  if (totals.failure === undefined) return;
  process.exitCode = 1;
  if (kept === undefined) await tellShortest(seed, options);
}

async function tell(totals: Totals, until: readonly Breach[] | undefined): Promise<void> {
  report(totals, performance.now());
  if (totals.failure !== undefined) await tellShortest(totals.failure.seed, until ? { until } : {});
}

async function tellShortest(seed: number, options: SimulationOptions): Promise<void> {
  const { schedule } = await simulate(seed, options);
  const faults = await shrinkSeed(seed, options);
  const again = await replay(seed, { ...options, faults });
  const { failure } = again.totals;
  console.log(`\nThe last steps of seed ${seed} with ${faults.length} of its ${schedule.length} faults:`);
  console.log([again.trace[0], ...again.trace.slice(1).slice(-LAST_STEPS)].join('\n'));
  for (const fault of faults) console.log(JSON.stringify(fault));
  console.log(
    failure === undefined ? 'The replay went another way: it is not exact.' : `FAILED: ${describeFailure(failure)}`,
  );
  const keep = faults.map((fault) => schedule.findIndex((each) => JSON.stringify(each) === JSON.stringify(fault)));
  const untilOption = options.until === undefined ? '' : ` --until ${options.until.join(',')}`;
  console.log(`npm run sim -- --seed ${seed} --keep ${keep.join(',') || 'none'}${untilOption}`);
}

/** Each thread plays the next batch when it has finished one, until a seed has failed. */
async function inParallel(
  first: number,
  seeds: number,
  threads: number,
  until: readonly Breach[] | undefined,
): Promise<Totals> {
  const totals = noTotals();
  const end = first + seeds;
  let next = first;
  let told = 0;
  const work = async (): Promise<void> => {
    const worker = new Worker(join(__dirname, 'seeds-worker.js'));
    try {
      while (next < end && totals.failure === undefined) {
        const batch: Batch = { first: next, count: Math.min(BATCH, end - next), until };
        next += batch.count;
        addTotals(totals, await played(worker, batch));
        if (totals.seeds - told < 1000) continue;
        told = totals.seeds;
        console.error(`${told} of ${seeds} worlds, ${totals.tally.ids} IDs …`);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
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

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
