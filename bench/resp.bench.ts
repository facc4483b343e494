import { runPart } from './harness';
import { freePort } from './http/sandbox';
import { openRig } from './http/route';
import { leafServer, ServerProcess } from './http/server-process';
import { overRedis, startRedis } from './redis';
import { atLeast } from './report/figures';
import { describeRows, measureRows, overHttp, type Row, rowFigures } from './rows';

const TAG = 'leaf-segment-test';
const CONNECTIONS = 50;
const PIPELINE = 16;
const HTTP = 'Leaf, HTTP, one ID';

runPart('resp', { full: { rounds: 5, seconds: 4 }, quick: { rounds: 2, seconds: 2 } }, async (plan, main) => {
  const rig = openRig();
  const { sandbox, cores, generator } = rig;
  const respPort = await freePort();
  const server = await ServerProcess.start(sandbox, leafServer(cores, main, { LEAF_RESP_PORT: String(respPort) }));
  const incr = (port: number, pipeline = 1): Row['run'] =>
    overRedis(rig, { port, tag: TAG, connections: CONNECTIONS, pipeline });
  const redis = await startRedis(sandbox, cores);
  const name = `redis-server ${redis?.version}, INCR`;
  const ofRedis = (server: NonNullable<typeof redis>): Row[] => [
    { name, server, run: incr(server.port) },
    { name: `${name}, pipeline of ${PIPELINE}`, server, run: incr(server.port, PIPELINE) },
  ];
  const rows = await measureRows(
    [
      { name: HTTP, ...overHttp(generator, server, `/api/segment/get/${TAG}`, CONNECTIONS) },
      { name: 'Leaf, INCR', beside: HTTP, server, run: incr(respPort) },
      { name: `Leaf, INCR, pipeline of ${PIPELINE}`, server, run: incr(respPort, PIPELINE) },
      ...(redis === undefined ? [] : ofRedis(redis)),
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
