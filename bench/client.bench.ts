import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { clientContenders, WORKER_TOKEN } from './client/contenders';
import { contenderFaults, contenderFigures, describeContenders, measureContenders } from './core/contender';
import { counter } from './core/peer-contenders';
import { runPart } from './harness';
import { arrangeCores } from './http/cores';
import { Sandbox } from './http/sandbox';
import { leafServer, ServerProcess } from './http/server-process';
import { atLeast } from './report/figures';

/** IDs per second with `tryNext`. */
const WANTED_RATE = 5_000_000;
/** IDs per second under a worker window; the format has 4,096,000. */
const WANTED_WINDOW_RATE = 3_900_000;

runPart('client', { full: { rounds: 7, roundMs: 1000 }, quick: { rounds: 3, roundMs: 300 } }, async (plan, main) => {
  const cores = arrangeCores();
  // All threads of this process use the core that the server does not use.
  if (cores.pinned) spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)]);
  const sandbox = new Sandbox();
  // Worker windows need a pool, and a pool needs a database with a name.
  const database = `sqlite:${join(sandbox.folder(), 'leaf.sqlite')}`;
  const registry = { LEAF_SNOWFLAKE_REGISTRY: 'database', LEAF_WORKER_TOKENS: WORKER_TOKEN };
  const options = leafServer(cores, main, { LEAF_DATABASE_URL: database, ...registry });
  const server = await ServerProcess.start(sandbox, options);
  const { clients, contenders } = await clientContenders(`http://127.0.0.1:${server.port}`);
  const results = await measureContenders([counter(), ...contenders], plan);
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
  const [, tryNext] = results;
  const window = results.at(-1)!;
  return {
    text: describeContenders(results),
    targets: [
      atLeast(tryNext!.contender.name, tryNext!.rate.median, WANTED_RATE, 'IDs/s'),
      atLeast(window.contender.name, window.rate.median, WANTED_WINDOW_RATE, 'IDs/s'),
    ],
    figures: contenderFigures(results),
    details: { pinned: cores.pinned, results },
    faults: contenderFaults(results),
  };
});
