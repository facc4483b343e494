import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Fault } from './faults';
import type { Breach } from './ledger';
import { recordSteps } from './record-steps';
import { report } from './report';
import {
  describeFailure,
  type Replay,
  replay,
  replaySegments,
  shrinkSeed,
  shrinkSegments,
  WORLDS,
  type Worlds,
} from './seeds';
import type { SegmentFault } from './segments/segment-faults';
import type { Batch } from './seeds-worker';
import { addTotals, noTotals, type Totals } from './totals';

const USAGE = `npm run sim -- --seeds 10000            plays that many worlds (1000 by default)
npm run sim -- --seeds 10000 --first 1  the first of them
npm run sim -- --worlds segments        of segments alone, one for each seed; lease: without them
npm run sim -- --seed 4711              plays one again, prints every step, and shrinks it when it fails
npm run sim -- --seed 4711 --keep 3,17  with only those of its faults
npm run sim -- --seeds 20 --steps <dir> writes the step logs of each world, for proof/trace/check.mjs
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
      worlds: { type: 'string', default: 'all' },
      json: { type: 'boolean', default: false },
      steps: { type: 'string' },
    },
  });
  const until = values.until?.split(',') as Breach[] | undefined;
  const worlds = WORLDS.find((each) => each === values.worlds);
  if (worlds === undefined) throw new Error(`--worlds must be one of ${WORLDS.join(', ')}.\n${USAGE}`);
  if (values.seed !== undefined) {
    const seed = whole('seed', values.seed);
    return worlds === 'segments'
      ? playOne(SEGMENTS, seed, values.keep, until)
      : playOne(LEASE, seed, values.keep, until);
  }
  if (values.steps !== undefined) {
    await recordSteps(whole('first', values.first), whole('seeds', values.seeds), values.steps);
    return;
  }
  const threads = whole('threads', values.threads);
  const totals = await inParallel(whole('first', values.first), whole('seeds', values.seeds), threads, until, worlds);
  if (values.json) console.log(JSON.stringify(totals));
  else await tell(totals, until);
  if (totals.failure !== undefined) process.exitCode = 1;
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value < 2 ** 31) return value;
  throw new Error(`--${name} must be a whole number from 1 to 2147483647, not ${text}.\n${USAGE}`);
}

/** How to play worlds of one kind again. */
interface Player<F> {
  /** For the command that plays it again. */
  readonly option: string;
  replay(seed: number, options: Options<F>): Promise<Replay<F>>;
  shrink(seed: number, options: Options<F>): Promise<F[]>;
}

interface Options<F> {
  readonly until?: readonly Breach[];
  readonly faults?: readonly F[];
}

const LEASE: Player<Fault> = { option: '', replay, shrink: shrinkSeed };
const SEGMENTS: Player<SegmentFault> = {
  option: ' --worlds segments',
  replay: replaySegments,
  shrink: shrinkSegments,
};

async function playOne<F>(
  player: Player<F>,
  seed: number,
  keep: string | undefined,
  until: readonly Breach[] | undefined,
): Promise<void> {
  const { schedule } = await player.replay(seed, {});
  const kept = keep?.split(',').flatMap((index) => schedule[Number(index)] ?? []);
  const options = { ...(until && { until }), ...(kept && { faults: kept }) };
  const { trace, totals } = await player.replay(seed, options);
  console.log(trace.join('\n'));
  report(totals, 0);
  if (totals.failure === undefined) return;
  process.exitCode = 1;
  if (kept === undefined) await tellShortest(player, seed, options);
}

async function tell(totals: Totals, until: readonly Breach[] | undefined): Promise<void> {
  report(totals, performance.now());
  const { failure } = totals;
  const options = until ? { until } : {};
  if (failure?.breach.startsWith('segment')) await tellShortest(SEGMENTS, failure.seed, options);
  else if (failure !== undefined) await tellShortest(LEASE, failure.seed, options);
}

async function tellShortest<F>(player: Player<F>, seed: number, options: Options<F>): Promise<void> {
  const { schedule } = await player.replay(seed, options);
  const faults = await player.shrink(seed, options);
  const again = await player.replay(seed, { ...options, faults });
  const { failure } = again.totals;
  console.log(`\nThe last steps of seed ${seed} with ${faults.length} of its ${schedule.length} faults:`);
  console.log([again.trace[0], ...again.trace.slice(1).slice(-LAST_STEPS)].join('\n'));
  for (const fault of faults) console.log(JSON.stringify(fault));
  console.log(
    failure === undefined ? 'The replay went another way: it is not exact.' : `FAILED: ${describeFailure(failure)}`,
  );
  const keep = faults.map((fault) => schedule.findIndex((each) => JSON.stringify(each) === JSON.stringify(fault)));
  const untilOption = options.until === undefined ? '' : ` --until ${options.until.join(',')}`;
  console.log(`npm run sim -- --seed ${seed}${player.option} --keep ${keep.join(',') || 'none'}${untilOption}`);
}

/** Each thread plays the next batch when it has finished one, until a seed has failed. */
async function inParallel(
  first: number,
  seeds: number,
  threads: number,
  until: readonly Breach[] | undefined,
  worlds: Worlds,
): Promise<Totals> {
  const totals = noTotals();
  const end = first + seeds;
  let next = first;
  let told = 0;
  const work = async (): Promise<void> => {
    const worker = new Worker(join(__dirname, 'seeds-worker.js'));
    try {
      while (next < end && totals.failure === undefined) {
        const batch: Batch = { first: next, count: Math.min(BATCH, end - next), until, worlds };
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
