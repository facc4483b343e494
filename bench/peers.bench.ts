import { runPart } from './harness';
import { CONNECTIONS } from './http/load-generator';
import { COMPILED_PEERS, compilePeer, LEAF, nodeServer, peerTargets } from './http/peers';
import { SNOWFLAKE_PATH } from './http/request';
import { freePort } from './http/sandbox';
import { openRig } from './http/route';
import { leafServer, ServerProcess } from './http/server-process';
import { overRedis, startRedis } from './redis';
import { describeRows, measureRows, overHttp, type Row, rowFigures } from './rows';
import { startSetUp } from './services';

const TAG = 'leaf-segment-test';
const LEAF_INCR = 'Leaf, INCR';

runPart('peers', { full: { rounds: 7, seconds: 4 }, quick: { rounds: 3, seconds: 2 } }, async (plan, main) => {
  const rig = openRig();
  const { sandbox, cores, generator } = rig;
  const peers = new Map([
    ['node:http', nodeServer(cores, 'raw-server')],
    ['node:net', nodeServer(cores, 'raw-socket')],
  ]);
  for (const peer of COMPILED_PEERS) {
    const compiled = await compilePeer(sandbox, cores, peer);
    if (compiled !== undefined) peers.set(peer.name, compiled);
  }
  const { name: setUp, production, env } = await startSetUp(sandbox);
  const respPort = await freePort();
  const options = leafServer(cores, main, { ...env, LEAF_RESP_PORT: String(respPort) });
  const leaf = await ServerProcess.start(sandbox, options);
  const rows: Row[] = [
    { name: LEAF, ...overHttp(generator, leaf, SNOWFLAKE_PATH, CONNECTIONS) },
    { name: 'Leaf segment', beside: LEAF, ...overHttp(generator, leaf, `/api/segment/get/${TAG}`, CONNECTIONS) },
  ];
  for (const [name, peer] of peers) {
    const server = await ServerProcess.start(sandbox, peer);
    rows.push({ name, beside: LEAF, ...overHttp(generator, server, SNOWFLAKE_PATH, CONNECTIONS) });
  }
  const redis = await startRedis(sandbox, cores);
  const incr = (port: number): Row['run'] => overRedis(rig, { port, tag: TAG, connections: CONNECTIONS });
  if (redis === undefined) console.error('INCR is left out. It needs redis-server: "apt-get install redis-server".');
  else {
    rows.push({ name: LEAF_INCR, beside: LEAF, server: leaf, run: incr(respPort) });
    const name = `redis-server ${redis.version}, INCR`;
    rows.push({ name, beside: LEAF_INCR, server: redis, run: incr(redis.port) });
  }
  const measured = await measureRows(rows, plan);
  const how = `${generator.name}, ${CONNECTIONS} connections; ${plan.rounds} rounds of ${plan.seconds} s`;
  return {
    text: `${setUp}; ${how}; ${cores.description}\n\n${describeRows(measured)}`,
    targets: peerTargets(measured, production),
    figures: rowFigures(measured),
    details: { setUp, pinned: cores.pinned, rows: measured },
  };
});
