import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startMariadb } from '../test/support/servers/mariadb';
import { clientContenders, WORKER_TOKEN } from './client/contenders';
import { describeOutages, measureOutages, outageFaults, type OutageReport, P99_LIMIT_MS } from './client/outages';
import { counter } from './core/peer-contenders';
import { measureRounds } from './core/rounds';
import { sampleOf, type Sample, verdict } from './core/sample';
import { arrangeCores, type Cores } from './http/cores';
import { Sandbox } from './http/sandbox';
import { ServerProcess } from './http/server-process';
import { readServerOptions } from './http/server-options';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { ratios, summarize, type Summary } from './report/summary';
import { decimals, formatTable, whole } from '../test/support/table';
import { atLeast, below, describeTargets, type Figure, figure, type Target } from './report/targets';

const FULL = { rounds: 7, roundMs: 1000, phaseMs: 10_000 };
const QUICK = { rounds: 3, roundMs: 300, phaseMs: 3000 };
const SAMPLE_SIZE = 1_200_000;
/** IDs per second with `tryNext`. */
const WANTED_RATE = 5_000_000;
/** IDs per second under a worker window; the format has 4,096,000. */
const WANTED_WINDOW_RATE = 3_900_000;

interface Rate {
  readonly name: string;
  readonly rates: readonly number[];
  readonly rate: Summary;
  readonly ratio: Summary;
  readonly sample: Sample;
}

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const cores = arrangeCores();
  if (cores.pinned) keepToOneCore();
  const sandbox = new Sandbox();
  const command = [process.execPath, server];
  const rates = await measureRates(sandbox, cores, command, plan);
  console.log(`\n${plan.rounds} rounds of ${plan.roundMs} ms each, one thread, one server:\n${describeRates(rates)}`);

  const mariadb = await startMariadb();
  try {
    const outages = await measureOutages(sandbox, cores, command, await mariadb.createDatabase(), plan.phaseMs);
    console.log(`\nThree servers on one database, killed and restarted:\n${describeOutages(outages)}\n`);
    const targets = targetsOf(rates, outages);
    console.log(`${describeTargets(targets)}\n`);
    const detail = { cores: cores.pinned, plan, rates, outages };
    const file = writeResults('client', { environment, targets, figures: figuresOf(rates, outages), ...detail });
    console.log(`Written to ${file}`);
    for (const fault of [...rateFaults(rates), ...outageFaults(outages)]) {
      console.error(`FAILED: ${fault}`);
      process.exitCode = 1;
    }
  } finally {
    await mariadb.stop();
  }
}

/** Pins all threads of this process to the core that the servers do not use. */
function keepToOneCore(): void {
  spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)]);
}

async function measureRates(
  sandbox: Sandbox,
  cores: Cores,
  command: readonly string[],
  { rounds, roundMs }: typeof FULL,
): Promise<Rate[]> {
  // Worker windows need a pool, and a pool needs a database with a name.
  const database = `sqlite:${join(sandbox.folder(), 'leaf.sqlite')}`;
  const env = {
    ...{ LEAF_DATABASE_URL: database, LEAF_SNOWFLAKE_REGISTRY: 'database' },
    LEAF_WORKER_TOKENS: WORKER_TOKEN,
  };
  const server = await ServerProcess.start(sandbox, {
    command: cores.server(command),
    readyPath: '/health/ready',
    env,
  });
  const { clients, contenders } = await clientContenders(`http://127.0.0.1:${server.port}`);
  const baseline = counter();
  const onRound = (round: number): void => console.error(`rates, round ${round + 1} of ${rounds} …`);
  const measured = await measureRounds([baseline, ...contenders], { rounds, roundMs, onRound });
  const floor = measured.get(baseline) ?? [];
  const rows: Rate[] = [];
  for (const [contender, rates] of measured) {
    const sample = await sampleOf(contender, SAMPLE_SIZE);
    const { name } = contender;
    rows.push({ name, rates, rate: summarize(rates), ratio: summarize(ratios(rates, floor)), sample });
  }
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
  return rows;
}

function describeRates(rates: readonly Rate[]): string {
  const header = ['', 'IDs/s', 'min..max', 'ns per ID', 'of counter', 'sample'];
  const table = rates.map(({ name, rate, ratio, sample }) => [
    name,
    whole(rate.median),
    `${whole(rate.min)}..${whole(rate.max)}`,
    decimals(1e9 / rate.median, 0),
    decimals(ratio.median, 3),
    verdict(sample),
  ]);
  return formatTable(header, table);
}

/** The first rate is that of the counter. */
function targetsOf(rates: readonly Rate[], outages: OutageReport): Target[] {
  const [, tryNext] = rates;
  const window = rates.at(-1);
  return [
    atLeast(tryNext!.name, tryNext!.rate.median, WANTED_RATE, 'IDs/s'),
    atLeast(window!.name, window!.rate.median, WANTED_WINDOW_RATE, 'IDs/s'),
    ...outages.map(({ name, calls }) => below(`client nextId, ${name}, p99`, calls.p99, P99_LIMIT_MS, 'ms')),
  ];
}

function figuresOf(rates: readonly Rate[], outages: OutageReport): Figure[] {
  return [
    ...rates.flatMap(({ name, rate, ratio }) => [
      figure(name, rate.median, 'IDs/s'),
      figure(`${name}, of counter`, ratio.median, 'ratio'),
    ]),
    ...outages.map(({ name, calls }) => figure(`nextId, ${name}, p99`, calls.p99, 'ms')),
  ];
}

function rateFaults(rates: readonly Rate[]): string[] {
  return rates.filter(({ sample }) => sample.duplicates > 0).map(({ name, sample }) => `${name}: ${verdict(sample)}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
