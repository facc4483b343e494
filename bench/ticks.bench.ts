import { Sandbox } from './http/sandbox';
import { Subject } from './memory/server-memory';
import { readServerOptions } from './http/server-options';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { summarize } from './report/summary';
import { decimals, formatTable, whole } from '../test/support/table';
import { below, figure } from './report/targets';
import { measureTicks, type Ticks } from './ticks/ticks';

const FULL = { rounds: 3, tags: 100_000, used: 10_000, seconds: 4 };
const QUICK = { rounds: 1, tags: 50_000, used: 2000, seconds: 2 };
const TARGET_MS = 5;

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const subject = new Subject(new Sandbox(), server);
  const measured: Ticks[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    console.error(`round ${round} of ${plan.rounds} …`);
    measured.push(await measureTicks(subject, plan));
  }
  const names = Object.keys(measured[0] ?? {});
  const longest = names.map((name) => ({ name, ...summarize(measured.map((ticks) => ticks[name] ?? NaN)) }));
  const rows = longest.map(({ name, median, min, max }) => [
    name,
    decimals(median, 1),
    `${decimals(min, 1)}..${decimals(max, 1)}`,
  ]);
  console.log(
    `\nlongest tick of the event loop, ms, with ${whole(plan.tags)} tags, ${whole(plan.used)} of them used\n`,
  );
  console.log(`${formatTable(['while', 'median', 'min..max'], rows)}\n`);
  const targets = longest.map(({ name, median }) => below(`longest tick, ${name}`, median, TARGET_MS, 'ms'));
  const figures = longest.map(({ name, median }) => figure(`longest tick, ${name}`, median, 'ms'));
  console.log(`Written to ${writeResults('ticks', { environment, targets, figures, plan, measured })}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
