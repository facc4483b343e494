import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { arrangeCores } from './http/cores';
import { chooseGenerator, CONNECTIONS } from './http/load-generator';
import { measureRound, type Round, type Route } from './http/round';
import { describeRoutes, summarizeKnown, summarizeRoutes } from './http/route-report';
import { Sandbox } from './http/sandbox';
import { measureStartUps, RANGE_SIZE } from './http/server-figures';
import type { ServerOptions } from './http/server-process';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { summarize, type Summary } from './report/summary';
import { decimals, whole } from './report/table';

const BUILT_SERVER = 'dist/apps/leaf-server/src/main.js';
const SNOWFLAKE_PATH = '/api/snowflake/get/bench';
const SEGMENT_PATH = '/api/segment/get/leaf-segment-test';
const RANGE_PATH = '/api/segment/range/leaf-segment-test';
const FULL = { rounds: 7, seconds: 5, warmUpSeconds: 2, ranges: 3, starts: 5 };
const QUICK = { rounds: 3, seconds: 1, warmUpSeconds: 1, ranges: 3, starts: 2 };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, server: { type: 'string', default: BUILT_SERVER } },
  });
  const plan = values.quick ? QUICK : FULL;
  const main = resolve(values.server);
  if (!existsSync(main)) throw new Error(`There is no ${main}. Run "npm run build" first.`);

  const environment = readEnvironment();
  const sandbox = new Sandbox();
  const cores = arrangeCores();
  const generator = chooseGenerator(sandbox, cores);
  console.log(describeEnvironment(environment));
  const where = cores.pinned ? 'servers on core 0, generator on core 1' : 'servers and generator share all cores';
  console.log(`${generator.name}, ${CONNECTIONS} kept connections, no pipelining; ${where}`);

  const command = (file: string): readonly string[] => cores.server([process.execPath, file]);
  const peer = (file: string): ServerOptions => ({
    command: command(join(__dirname, 'http', file)),
    readyPath: SNOWFLAKE_PATH,
  });
  const leaf: ServerOptions = { command: command(main), readyPath: '/health/ready' };
  const routes: readonly Route[] = [
    { name: 'node:http, constant answer', server: peer('raw-server.js'), path: SNOWFLAKE_PATH },
    { name: 'fastify, constant answer', server: peer('fastify-server.js'), path: SNOWFLAKE_PATH },
    { name: 'Leaf snowflake', server: leaf, path: SNOWFLAKE_PATH },
    { name: 'Leaf segment', server: leaf, path: SEGMENT_PATH },
    { name: 'Leaf snowflake, 100 IDs', server: leaf, path: '/api/snowflake/batch/bench?size=100' },
    { name: 'Leaf segment, 100 IDs', server: leaf, path: '/api/segment/batch/leaf-segment-test?size=100' },
  ];

  console.error('start-up …');
  // Not held to one core: V8 compiles and collects beside the main thread, as it does where a server is deployed.
  const startMs = await measureStartUps(sandbox, [process.execPath, main], SNOWFLAKE_PATH, plan.starts);
  const rounds: Round[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    console.error(`round ${round + 1} of ${plan.rounds} …`);
    const subject = { server: leaf, rangePath: RANGE_PATH };
    rounds.push(await measureRound(sandbox, generator, routes, subject, plan, round % routes.length));
  }

  const reports = summarizeRoutes(routes, rounds);
  const rangeMs = summarize(rounds.flatMap((round) => round.rangeMs));
  const idleMiB = summarizeKnown(rounds.map((round) => round.idleMiB));
  const loadedMiB = summarizeKnown(rounds.map((round) => round.loadedMiB));
  console.log(`\n${plan.rounds} rounds of ${plan.seconds} s each, new servers each; no request failed.\n`);
  console.log(describeRoutes(reports));
  const ranges = plan.rounds * plan.ranges;
  console.log(`\nrange of ${whole(RANGE_SIZE)} IDs, one call: ${milliseconds(rangeMs, 2)} (${ranges} calls)`);
  console.log(`start to first ID over HTTP: ${milliseconds(startMs, 0)} (${plan.starts} starts, empty data folder)`);
  console.log(`resident memory: ${mebibytes(idleMiB)} idle after the start, ${mebibytes(loadedMiB)} after the load`);
  const memory = { idleMiB, loadedMiB };
  const setting = { generator: generator.name, connections: CONNECTIONS, pinned: cores.pinned, plan };
  const file = writeResults('http', { environment, setting, routes: reports, rangeMs, startMs, memory });
  console.log(`Written to ${file}`);
}

function milliseconds({ median, min, max }: Summary, digits: number): string {
  return `${decimals(median, digits)} ms median, ${decimals(min, digits)}..${decimals(max, digits)}`;
}

function mebibytes(value: Summary | undefined): string {
  return value === undefined ? 'unknown' : `${decimals(value.median, 0)} MiB`;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
