import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatTable } from '../../bench/report/table';
import { type ChaosOutcome, runChaos } from './chaos-run';
import { percent, rowsOf } from './report/tables';
import { summarize, type Summary } from './report/summary';
import { KINDS } from './schedule';

const USAGE = `npm run chaos -- --minutes 30            so long; 3 unless told
npm run chaos -- --seed 4711             the same faults in the same order as every run of that seed
npm run chaos -- --kinds server-kill,…   these kinds only
Kinds: ${KINDS.join(' ')}`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 1_000_000)) },
      kinds: { type: 'string' },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
    },
  });
  const seed = positive('seed', values.seed);
  const minutes = positive('minutes', values.minutes);
  const kinds = values.kinds?.split(',') ?? KINDS;
  for (const kind of kinds) if (!KINDS.includes(kind)) throw new Error(`There is no fault ${kind}.\n${USAGE}`);
  const folder = join(process.cwd(), 'node_modules/.cache/leaf-chaos', String(seed));
  mkdirSync(folder, { recursive: true });
  console.log(`Seed ${seed}, ${minutes} minutes; everything goes to ${folder}`);
  const serverFile = resolve(values.server);
  const outcome = await runChaos({ seed, minutes, kinds, serverFile, folder, say: (line) => console.log(line) });
  const summary = summarize(seed, outcome);
  tell(summary, outcome);
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  const replay = `npm run chaos -- --seed ${seed} --minutes ${minutes}`;
  console.log(summary.passed ? '\nPassed.' : `\nFAILED. The same faults again: ${replay}`);
  if (!summary.passed) process.exitCode = 1;
}

function tell(summary: Summary, { failedStarts }: ChaosOutcome): void {
  const [header = [], ...rows] = rowsOf(summary);
  console.log(`\n${formatTable(header, rows)}\n`);
  const { faults, ids, calls, duplicates, descents, unexpected, segment, snowflake, impossible, stuck } = summary;
  console.log(`${faults} faults, ${calls} calls, ${ids} IDs, ${failedStarts} failed starts`);
  console.log(`${duplicates.length} duplicates, ${descents.length} out of order, ${unexpected.length} unexpected`);
  console.log(`segment ${percent(segment)} (without outages that outlast the buffers), snowflake ${percent(snowflake)}`);
  if (impossible.length > 0) console.log(`Not possible here: ${impossible.join(', ')}`);
  for (const problem of [...duplicates, ...descents, ...unexpected]) console.log(JSON.stringify(problem));
  if (stuck !== undefined) console.log(stuck);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`--${name} must be a number above 0, not ${text}.\n${USAGE}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
