import { runPart } from './harness';
import { arrangeCores } from './http/cores';
import { chooseGenerator } from './http/load-generator';
import { freePort, Sandbox } from './http/sandbox';
import { ServerProcess } from './http/server-process';
import { startRedis, runIncr } from './redis';
import { atLeast } from './report/figures';
import { describeRows, type Issued, measureRows, overHttp, type Row, rowFigures } from './rows';

const TAG = 'leaf-segment-test';
const CONNECTIONS = 50;
const PIPELINE = 16;
/** INCRs that take about a second, with a pipeline of that many. */
const PER_SECOND = { 1: 60_000, [PIPELINE]: 600_000 };
const REDIS_SHARE = 1 / 20;
const HTTP = 'Leaf, HTTP, one ID';

runPart('resp', { full: { rounds: 5, seconds: 4 }, quick: { rounds: 2, seconds: 2 } }, async (plan, main) => {
  const sandbox = new Sandbox();
  const cores = arrangeCores();
  const generator = chooseGenerator(sandbox, cores);
  const respPort = await freePort();
  const server = await ServerProcess.start(sandbox, {
    command: cores.server([process.execPath, main]),
    readyPath: '/health/ready',
    env: { LEAF_RESP_PORT: String(respPort) },
  });
  const incr =
    (port: number, pipeline: 1 | typeof PIPELINE, share = 1) =>
    (seconds: number): Promise<Issued> => {
      const requests = Math.round(PER_SECOND[pipeline] * seconds * share);
      return runIncr({ sandbox, cores }, { port, tag: TAG, connections: CONNECTIONS, pipeline, requests });
    };
  const url = `http://127.0.0.1:${server.port}/api/segment/get/${TAG}`;
  const redis = await startRedis(sandbox, cores);
  const name = `redis-server ${redis?.version}, INCR`;
  const ofRedis: Row[] =
    redis === undefined
      ? []
      : [
          { name, run: incr(redis.port, 1, REDIS_SHARE) },
          { name: `${name}, pipeline of ${PIPELINE}`, run: incr(redis.port, PIPELINE, REDIS_SHARE) },
        ];
  const rows = await measureRows(
    [
      { name: HTTP, server, run: overHttp(generator, url, CONNECTIONS) },
      { name: 'Leaf, INCR', beside: HTTP, server, run: incr(respPort, 1) },
      { name: `Leaf, INCR, pipeline of ${PIPELINE}`, server, run: incr(respPort, PIPELINE) },
      ...ofRedis,
    ],
    plan,
  );
  await server.stop();
  const [, single, pipelined] = rows;
  const targets = [
    atLeast('INCR per CPU second, of HTTP', single?.cpuRatio?.median, 1.5, 'ratio'),
    atLeast(`INCR, pipeline of ${PIPELINE}`, pipelined?.rate.median, 500_000, 'IDs/s'),
  ];
  return { text: describeRows(rows), targets, figures: rowFigures(rows), details: { rows } };
});
