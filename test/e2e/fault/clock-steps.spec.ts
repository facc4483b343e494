import { defaultLayout } from '@leaf-ids/core/internal';
import { ensureBuilt } from '../../support/build';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { SteppedClock } from '../../support/servers/faketime';
import { call, json, text } from '../../support/http/http';
import { givenTwice } from '../../support/issued-ids';
import { metric } from '../../support/http/metrics';
import { problemCode } from '../../support/http/problem';
import {
  MYSQL,
  type RegistryHost,
  SERVER_REGISTRIES,
  type ServerRegistry,
} from '../../support/servers/server-registries';
import { SnowflakeLoad } from '../../support/servers/snowflake-load';
import { until } from '../../support/until';

const STEPS_MS = [1000, 2900, 9000];
const FIVE_MINUTES_MS = 300_000;
/** A step after which a running server refuses snowflake IDs. */
const FAR_MS = 60_000;
/** Longer than any start, so that the reserved time does not end before the test has examined the server. */
const LEASE_TTL_MS = 120_000;
/** The test then sets the clock this close to the end of the wait, to save time. */
const NEAR_MS = 1500;
/** Number of IDs that counts as full load. */
const MANY = 100_000;
const READY_LIMIT_MS = 60_000;
const GET = '/api/snowflake/get/order';

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

interface SteppedServer {
  readonly registry: ServerRegistry;
  readonly directory: string;
  readonly clock: SteppedClock;
  readonly env: NodeJS.ProcessEnv;
}

async function makeWorld(host: RegistryHost): Promise<SteppedServer> {
  const [registry, directory] = [await host.open(), await servers.makeDirectory()];
  const clock = await SteppedClock.create(directory);
  const env = {
    LEAF_SEGMENT_ENABLED: 'false',
    LEAF_ADVERTISE_PORT: '8080',
    LEAF_SNOWFLAKE_LEASE_TTL_MS: String(LEASE_TTL_MS),
    // The comparison with the clock of the database has a test of its own.
    LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '0',
    ...registry.env,
    ...clock.env,
  };
  return { registry, directory, clock, env };
}

function timestampOf(id: bigint): number {
  return defaultLayout().decompose(id).timestamp;
}

async function isReady(port: number): Promise<boolean> {
  return (await call(port, '/health/ready')).status === 200;
}

async function stepsSeen({ port }: BuiltServer): Promise<number> {
  return (await metric(port, 'leaf_clock_backwards_total')) ?? NaN;
}

function say(line: string): void {
  process.stdout.write(`${expect.getState().currentTestName}: ${line}\n`);
}

/** How far behind the clock was in a start that failed with LEAF_CLOCK_BEHIND, in milliseconds. */
async function behind(server: BuiltServer): Promise<number> {
  expect(await server.exit()).toEqual({ code: 1, signal: null });
  const [, ms] = /^leaf-server cannot start: LEAF_CLOCK_BEHIND: .* is (\d+) ms behind /.exec(server.stderr) ?? [];
  if (ms === undefined) throw new Error(`It failed for something else: ${server.stderr}`);
  expect(server.stdout).not.toContain('Listening');
  return Number(ms);
}

interface Restarted {
  readonly server: BuiltServer;
  /** How far behind the clock was in each refused start. */
  readonly refusedMs: readonly number[];
}

/** Starts the server as a process manager does: again after each start that was refused for its clock. */
async function startAgain({ directory, env, clock }: SteppedServer, stepMs: number): Promise<Restarted> {
  const refusedMs: number[] = [];
  for (let offsetMs = -stepMs; ;) {
    await clock.set(offsetMs);
    const server = servers.spawn(directory, env);
    const started = await server.listening().then(
      () => true,
      () => false,
    );
    if (started) return { server, refusedMs };
    const ms = await behind(server);
    expect(ms).toBeGreaterThan(LEASE_TTL_MS);
    refusedMs.push(ms);
    offsetMs += ms - LEASE_TTL_MS;
  }
}

/** The time by the clock of the server. */
async function timeOf({ port }: BuiltServer): Promise<number> {
  return (await json<{ now: number }>(port, '/api/internal/time')).now;
}

/** Waits until the server is ready, and checks that its clock has passed `ceiling`. */
async function waitFor(server: BuiltServer, ceiling: number): Promise<void> {
  await until('ready', () => isReady(server.port), READY_LIMIT_MS);
  expect(await timeOf(server)).toBeGreaterThan(ceiling);
}

describe.each(SERVER_REGISTRIES)('a server with the registry $name', ({ start, keepsWorker }) => {
  let host: RegistryHost;
  beforeAll(async () => {
    host = await start();
  });
  afterAll(() => host.stop());

  /** Checks that the server refuses IDs, and restarts it with the clock close to the ceiling, which is in true time. */
  async function nearer(world: SteppedServer, waiting: BuiltServer, ceiling: number): Promise<BuiltServer> {
    const load = new SnowflakeLoad(waiting.port);
    await until('a refusal', () => load.refusals.size > 0);
    expect(await isReady(waiting.port)).toBe(false);
    await waiting.kill();
    await load.end();
    // Only now: by this clock, the server would soon issue IDs.
    await world.clock.set(ceiling - NEAR_MS - Date.now());
    expect([[...load.refusals.keys()], load.count]).toEqual([['LEAF_NOT_READY'], 0]);
    return servers.start(world.directory, world.env);
  }

  async function crash(stepMs: number): Promise<string> {
    const world = await makeWorld(host);
    const first = await servers.start(world.directory, world.env);
    const before = new SnowflakeLoad(first.port);
    await until('load', () => before.count > MANY);
    await first.kill();
    await before.end();
    const ceiling = await world.registry.ceiling(world.directory);
    expect(timestampOf(before.bounds.highest)).toBeLessThanOrEqual(ceiling);

    const { server: waiting, refusedMs } = await startAgain(world, stepMs);
    const server = keepsWorker ? await nearer(world, waiting, ceiling) : waiting;
    const after = new SnowflakeLoad(server.port);
    if (keepsWorker) await waitFor(server, ceiling);
    await until('load', () => after.count > MANY);
    await after.end();

    expect([...before.descents, ...after.descents, ...after.breaks]).toStrictEqual([]);
    expect(givenTwice([...before.ranges, ...after.ranges])).toStrictEqual([]);
    if (keepsWorker) {
      expect(after.workers).toEqual(before.workers);
      expect([...after.refusals.keys(), 'LEAF_NOT_READY']).toContain('LEAF_NOT_READY');
      expect(after.refusals.size).toBeLessThanOrEqual(1);
      expect(timestampOf(after.bounds.lowest)).toBeGreaterThan(ceiling);
    } else {
      expect([...after.workers]).not.toEqual([...before.workers]);
      expect([refusedMs, [...after.refusals]]).toEqual([[], []]);
    }
    const how = keepsWorker
      ? `the first ${timestampOf(after.bounds.lowest) - ceiling} ms after what was reserved`
      : 'the second lot from another worker';
    return (
      `${stepMs} ms back: ${before.count} + ${after.count} IDs, none twice, ${how}; ` +
      `${refusedMs.length} starts refused before`
    );
  }

  it('that is killed under load repeats nothing when its clock is set back meanwhile', async () => {
    for (const line of await Promise.all(STEPS_MS.map(crash))) say(line);
  });

  it('does not start five minutes before its own past', async () => {
    const world = await makeWorld(host);
    const first = await servers.start(world.directory, world.env);
    const id = BigInt(await text(first.port, GET));
    await first.kill();
    const ceiling = await world.registry.ceiling(world.directory);
    await world.clock.set(-FIVE_MINUTES_MS);
    if (!keepsWorker) {
      const next = await servers.start(world.directory, world.env);
      const workers = [id, BigInt(await text(next.port, GET))].map((one) => defaultLayout().decompose(one).workerId);
      expect(new Set(workers).size).toBe(2);
      return;
    }
    const earliest = Date.now();
    const ms = await behind(servers.spawn(world.directory, world.env));
    expect(ms).toBeLessThanOrEqual(ceiling - (earliest - FIVE_MINUTES_MS));
    expect(ms).toBeGreaterThanOrEqual(ceiling - (Date.now() - FIVE_MINUTES_MS));
    expect(await world.registry.ceiling(world.directory)).toBe(ceiling);
    say(`refused, ${ms} ms behind`);
  });

  it('takes steps backwards while it runs', async () => {
    const world = await makeWorld(host);
    const server = await servers.start(world.directory, world.env);
    const load = new SnowflakeLoad(server.port);
    const more = async (): Promise<void> => {
      const before = load.count;
      await until('load', () => load.count > before + MANY);
    };
    await more();
    await world.clock.set(-3);
    await more();
    const absorbed = { refusals: load.refusals.get('LEAF_CLOCK_BACKWARDS') ?? 0, steps: await stepsSeen(server) };

    await world.clock.set(-FAR_MS);
    const refused = await until('a refusal', async () => {
      const answer = await call(server.port, GET);
      return answer.status !== 200 && answer;
    });
    expect(problemCode(refused)).toBe('LEAF_CLOCK_BACKWARDS');
    expect(await isReady(server.port)).toBe(false);
    await world.clock.set(-NEAR_MS);
    await until('ready', () => isReady(server.port));
    await more();
    await load.end();

    expect(server.running).toBe(true);
    expect([...load.breaks, ...load.descents]).toStrictEqual([]);
    expect(givenTwice(load.ranges)).toStrictEqual([]);
    expect([...load.refusals.keys()]).toEqual(['LEAF_CLOCK_BACKWARDS']);
    const steps = await stepsSeen(server);
    expect(steps).toBeGreaterThan(absorbed.steps);
    say(
      `${load.count} IDs, none twice; 3 ms: ${absorbed.steps} steps seen, ${absorbed.refusals} refusals; ` +
        `${FAR_MS} ms: ${load.refusals.get('LEAF_CLOCK_BACKWARDS')} refusals, Retry-After ${refused.headers['retry-after']}`,
    );
  });
});

it('a server whose clock is far from that of its database does not start', async () => {
  const host = await MYSQL.start();
  try {
    const { directory, clock, env } = await makeWorld(host);
    await clock.set(-FIVE_MINUTES_MS);
    const server = servers.spawn(directory, { ...env, LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '5000' });
    expect(await server.exit()).toEqual({ code: 1, signal: null });
    expect(server.stderr).toMatch(/LEAF_CLOCK_OFFSET: .* is (29|30)\d{4} ms behind .*the database \(-(29|30)\d{4}\)/);
  } finally {
    await host.stop();
  }
});
