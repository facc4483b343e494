import { readFile } from 'node:fs/promises';
import { ensureBuilt } from '../../support/build';
import { fuzz } from '../../support/resp-fuzz';
import { BuiltServers } from '../../support/servers/built-server';
import { respPortOf } from '../../support/servers/resp-port';

/** `STREAMS=1000000 npm run test:long -- test/long/resp` takes about five minutes. */
const STREAMS = Number(process.env.STREAMS ?? 50_000);
const WARM_UP = 10_000;
const MAX_GROWTH_MIB = 100;

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

/** Resident memory of a process, in MiB. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

it(`${STREAMS} streams of any bytes get replies in order, and the memory of the server does not grow`, async () => {
  const server = await servers.start(await servers.makeDirectory(), { LEAF_RESP_PORT: '0' });
  const port = await respPortOf(server);
  const seed = Date.now();
  await fuzz(port, WARM_UP, seed);
  const before = await memoryOf(server.pid);
  const replies = await fuzz(port, STREAMS, seed + WARM_UP);
  const after = await memoryOf(server.pid);
  console.log(`seed ${seed}: ${replies} replies; ${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB after`);
  expect(replies).toBeGreaterThan(STREAMS);
  expect(after - before).toBeLessThan(MAX_GROWTH_MIB);
}, 3_600_000);
