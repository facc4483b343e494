import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { insertTag } from '../support/servers/data-directory';
import { SteppedClock } from '../support/servers/faketime';
import { call, json, text } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const SHORT = { LEAF_SNOWFLAKE_REPORT_MS: '200', LEAF_SEGMENT_MAX_STEP: '40' };
const LOCAL = { ...SHORT, LEAF_SNOWFLAKE_REGISTRY: 'local', LEAF_SNOWFLAKE_LEASE_TTL_MS: '1000' };
const ROUNDS = 6;

const servers = new BuiltServers();

beforeAll(ensureBuilt);
afterEach(() => servers.end());

interface Ranges {
  readonly ranges: { readonly from: string; readonly to: string }[];
}

/** Every ID that a client has received, over all runs of a server. */
class Received {
  readonly segment = new Set<number>();
  readonly snowflake = new Set<string>();
  readonly twice: string[] = [];
  answers = 0;
  refused = 0;

  addSegment(id: number): void {
    if (this.segment.has(id)) this.twice.push(`segment ${id}`);
    this.segment.add(id);
  }

  addSnowflake(id: string): void {
    if (this.snowflake.has(id)) this.twice.push(`snowflake ${id}`);
    this.snowflake.add(id);
  }
}

type Ask = (port: number, agent: Agent, received: Received) => Promise<void>;

async function snowflakes(port: number, path: string, agent: Agent, received: Received): Promise<string | undefined> {
  const answer = await call(port, path, { agent });
  if (answer.status === 200) return answer.body;
  // A machine that stands still for longer than the lease TTL lets it end.
  expect(['LEAF_NOT_READY', 'LEAF_LEASE_EXPIRED']).toContain(problemCode(answer));
  received.refused++;
  return undefined;
}

const ASKS: readonly Ask[] = [
  async (port, agent, received) => {
    received.addSegment(Number(await text(port, '/api/segment/get/load', { agent })));
  },
  async (port, agent, received) => {
    const { ids } = JSON.parse(await text(port, '/api/segment/batch/load?size=25', { agent })) as { ids: string[] };
    for (const id of ids) received.addSegment(Number(id));
  },
  async (port, agent, received) => {
    const { ranges } = JSON.parse(await text(port, '/api/segment/range/load?size=90', { agent })) as Ranges;
    for (const { from, to } of ranges) for (let id = Number(from); id <= Number(to); id++) received.addSegment(id);
  },
  async (port, agent, received) => {
    const id = await snowflakes(port, '/api/snowflake/get/order', agent, received);
    if (id !== undefined) received.addSnowflake(id);
  },
  async (port, agent, received) => {
    const body = await snowflakes(port, '/api/snowflake/batch/order?size=50', agent, received);
    if (body !== undefined) for (const id of (JSON.parse(body) as { ids: string[] }).ids) received.addSnowflake(id);
  },
];

/** Asks for all kinds of IDs at once until the server is gone. */
async function load(server: BuiltServer, received: Received): Promise<void> {
  const { port } = server;
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  let killed = false;
  const isKilled = (): boolean => killed;
  const callers = [...ASKS, ...ASKS].map(async (ask) => {
    while (!isKilled()) {
      try {
        await ask(port, agent, received);
        received.answers++;
      } catch (error) {
        if (!isKilled()) throw error;
      }
    }
  });
  const wanted = received.answers + 100 + Math.floor(Math.random() * 900);
  const served = received.snowflake.size;
  const enough = until('load', () => received.answers >= wanted && received.snowflake.size > served);
  await Promise.race([enough, ...callers]);
  killed = true;
  await server.kill();
  await Promise.all(callers);
  agent.destroy();
}

it('gives no ID twice, however often it is killed under load', async () => {
  const directory = await servers.makeDirectory();
  const received = new Received();
  let highest = 0n;
  for (let round = 0; round < ROUNDS; round++) {
    const server = await servers.start(directory, SHORT);
    if (round === 0) insertTag(directory, { tag: 'load', step: 20 });
    const before = received.snowflake.size;
    await load(server, received);
    const ids = [...received.snowflake].slice(before).map(BigInt);
    const lowest = ids.reduce((least, id) => (id < least ? id : least));
    expect(lowest).toBeGreaterThan(highest);
    highest = ids.reduce((most, id) => (id > most ? id : most));
  }
  expect(received.twice).toStrictEqual([]);
  expect(received.segment.size).toBeGreaterThan(1000);
  expect(received.snowflake.size).toBeGreaterThan(1000);
});

it('after a kill serves segments at once, and snowflake IDs above the reserved time', async () => {
  const directory = await servers.makeDirectory();
  const clock = await SteppedClock.create(directory);
  // Longer than any start takes.
  const env = { LEAF_SNOWFLAKE_REGISTRY: 'local', LEAF_SNOWFLAKE_LEASE_TTL_MS: '120000', ...clock.env };
  const first = await servers.start(directory, env);
  expect(await text(first.port, `/api/segment/get/${TAG}`)).toBe('1');
  await text(first.port, '/api/snowflake/get/order');
  await first.kill();
  const record = await readFile(join(directory, 'leaf/worker-0/workerID.json'), 'utf8');
  const { timestamp: reserved } = JSON.parse(record) as { timestamp: number };

  const { port } = await servers.start(directory, env);
  expect(Number(await text(port, `/api/segment/get/${TAG}`))).toBeGreaterThan(1);
  for (const path of ['/api/snowflake/get/order', '/api/snowflake/batch/order?size=100']) {
    const refused = await call(port, path);
    expect(problemCode(refused)).toBe('LEAF_NOT_READY');
    const seconds = Number(refused.headers['retry-after']);
    expect([seconds >= 1, seconds <= 120]).toEqual([true, true]);
  }
  const ready = await call(port, '/health/ready');
  expect(ready.status).toBe(503);
  expect(JSON.parse(ready.body)).toMatchObject({
    info: { segment: { status: 'up' } },
    error: { snowflake: { status: 'down', code: 'LEAF_NOT_READY' } },
  });

  await clock.set(reserved - Date.now() - 1000);
  await until('ready', async () => (await call(port, '/health/ready')).status === 200);
  const id = await text(port, '/api/snowflake/get/order');
  const { timestamp } = await json<{ timestamp: number }>(port, `/api/snowflake/decode/${id}`);
  expect(timestamp).toBeGreaterThan(reserved);
});

/** Polls without a pause: some files exist only for microseconds before the next step of the start. */
function killOnceThereIs(file: string, server: BuiltServer): void {
  const deadline = performance.now() + 60_000;
  while (!existsSync(file)) if (performance.now() > deadline) throw new Error(`${file} was not made`);
  server.signal('SIGKILL');
}

it.each([
  ['leaf.sqlite', SHORT],
  ['leaf.sqlite-wal', SHORT],
  ['workers-leaf.sqlite', SHORT],
  ['leaf/worker-0', LOCAL],
  ['leaf/worker-0/worker.lock', LOCAL],
  ['leaf/worker-0/workerID.json', LOCAL],
])('starts again after a kill at the moment its first start has made %s', async (file, env) => {
  const directory = await servers.makeDirectory();
  const server = servers.spawn(directory, env);
  killOnceThereIs(join(directory, file), server);
  await server.kill();
  const { port } = await servers.start(directory, env);
  expect(await text(port, `/api/segment/get/${TAG}`)).toBe('1');
  const id = await until('a snowflake ID', async () => {
    const { status, body } = await call(port, '/api/snowflake/get/order');
    return status === 200 && body;
  });
  expect(id).toMatch(/^[1-9]\d*$/);
});

it('gives no segment ID twice when it is killed at the start again and again', async () => {
  const directory = await servers.makeDirectory();
  const ids: number[] = [];
  for (let round = 0; round < 4; round++) {
    const server = await servers.start(directory, SHORT);
    ids.push(Number(await text(server.port, `/api/segment/get/${TAG}`)));
    await server.kill();
  }
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  expect(new Set(ids).size).toBe(4);
});

it('goes on above all that was given when a power cut left a torn write at the end of the log of its database', async () => {
  const directory = await servers.makeDirectory();
  const first = await servers.start(directory, SHORT);
  const highest = Number(await text(first.port, `/api/segment/get/${TAG}`));
  await first.kill();
  const log = join(directory, 'leaf.sqlite-wal');
  const written = await readFile(log);
  // A transaction that was not committed: the begin of a frame, and what the disk held there before.
  await appendFile(log, Buffer.concat([written.subarray(32, 1500), Buffer.alloc(5000, 0xa5)]));
  const { port } = await servers.start(directory, SHORT);
  expect(Number(await text(port, `/api/segment/get/${TAG}`))).toBeGreaterThan(highest);
});
