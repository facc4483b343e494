import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { inTurn, runPart } from './harness';
import { cpuSecondsOfEnded } from './http/processor-time';
import { SNOWFLAKE_PATH } from './http/request';
import { Sandbox } from './http/sandbox';
import { ServerProcess } from './http/server-process';
import { below, figure, summarize } from './report/figures';
import { formatTable, spread } from './report/table';

const TARGET_MS = 350;

interface Start {
  /** Time until the first ID, in milliseconds; of `node -e 0` until its end. */
  readonly ms: number;
  /** CPU time of all threads, in milliseconds. */
  readonly cpuMs: number;
}

runPart('start', { full: { rounds: 20 }, quick: { rounds: 5 } }, async ({ rounds }, main) => {
  const sandbox = new Sandbox();
  const [data, nest] = [sandbox.folder(), join(__dirname, 'start/nest-server.js')];
  const contenders: readonly { readonly name: string; readonly measure: () => Promise<Start> }[] = [
    { name: 'node -e 0', measure: () => Promise.resolve(startNode()) },
    { name: 'Nest on Fastify, one route', measure: () => startServer(sandbox, nest, {}) },
    { name: 'Leaf on SQLite', measure: () => startServer(sandbox, main, { LEAF_DATA_DIR: data }) },
  ];
  // The first start creates the database and fills the compile cache.
  for (const { measure } of contenders) await measure();
  const measured = [...(await inTurn(contenders, rounds, ({ measure }) => measure()))].map(([{ name }, starts]) => ({
    name,
    ms: summarize(starts.map(({ ms }) => ms)),
    cpuMs: summarize(starts.map(({ cpuMs }) => cpuMs)),
  }));
  const rows = measured.map(({ name, ms, cpuMs }) => [name, ...spread(ms), ...spread(cpuMs)]);
  return {
    text: formatTable(['start to the first ID', 'ms', 'min..max', 'CPU ms', 'min..max'], rows),
    targets: [below('Leaf on SQLite, to the first ID', measured.at(-1)?.ms.median, TARGET_MS, 'ms')],
    figures: measured.flatMap(({ name, ms, cpuMs }) => [
      figure(`${name}, to the first ID`, ms.median, 'ms'),
      figure(`${name}, CPU time`, cpuMs.median, 'ms'),
    ]),
    details: { measured },
  };
});

function startNode(): Start {
  const [startedAt, cpu] = [performance.now(), cpuSecondsOfEnded() ?? NaN];
  spawnSync(process.execPath, ['-e', '0']);
  return { ms: performance.now() - startedAt, cpuMs: ((cpuSecondsOfEnded() ?? NaN) - cpu) * 1000 };
}

async function startServer(sandbox: Sandbox, main: string, env: NodeJS.ProcessEnv): Promise<Start> {
  const server = await ServerProcess.start(sandbox, {
    command: [process.execPath, main],
    readyPath: SNOWFLAKE_PATH,
    env,
  });
  const cpuMs = (server.cpuSeconds() ?? NaN) * 1000;
  await server.stop();
  return { ms: server.startMs, cpuMs };
}
