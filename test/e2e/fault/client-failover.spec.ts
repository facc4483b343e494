import { setTimeout as sleep } from 'node:timers/promises';
import { LeafClient } from '@leaf-ids/client';
import { ensureBuilt } from '../../support/build';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { call } from '../../support/http/http';
import { givenTwice, IssuedIds, runsOf } from '../../support/issued-ids';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const TAGS = ['order', 'user', 'invoice', 'parcel', 'ticket', 'session', 'event', 'item'];
/** Three starts share the cores of the machine with others. */
const START_LIMIT_MS = 60_000;

/** A server at one address for its clients, whichever process it is. */
interface Place {
  readonly proxy: TcpProxy;
  readonly directory: string;
  process: BuiltServer;
}

const servers = new BuiltServers();
const places: Place[] = [];
let mariadb: MariadbServer;
const clients: LeafClient[] = [];
let env: NodeJS.ProcessEnv;

/** Resolves when it gives IDs of both kinds: a worker whose server was killed first waits for its reserved time to pass. */
async function startProcess(directory: string, index: number): Promise<BuiltServer> {
  const process = servers.spawn(directory, { ...env, LEAF_ADVERTISE_PORT: String(8080 + index) });
  const listens = (): boolean => {
    if (!process.running) throw new Error(`A start failed:\n${process.stdout}${process.stderr}`);
    return process.stdout.includes('Listening on');
  };
  await until('start line', listens, START_LIMIT_MS);
  const isReady = async (): Promise<boolean> => (await call(process.port, '/health/ready')).status === 200;
  await until('readiness', isReady, START_LIMIT_MS);
  return process;
}

beforeAll(async () => {
  [mariadb] = await Promise.all([startMariadb(), ensureBuilt()]);
  const url = await mariadb.createDatabase();
  const snowflake = {
    LEAF_SNOWFLAKE_REGISTRY: 'mysql',
    LEAF_SNOWFLAKE_REPORT_MS: '1000',
    LEAF_SNOWFLAKE_LEASE_TTL_MS: '6000',
  };
  env = { ...snowflake, LEAF_DATABASE_URL: url };
  for (let i = 0; i < 3; i++) {
    const directory = await servers.makeDirectory();
    const process = await startProcess(directory, i);
    places.push({ directory, process, proxy: await TcpProxy.start(process.port) });
  }
  const rows = TAGS.map((tag) => `('${tag}', 1, 200)`).join(', ');
  await mariadb.query(
    `INSERT INTO ${new URL(url).pathname.slice(1)}.leaf_alloc (biz_tag, max_id, step) VALUES ${rows}`,
  );
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(places.map(({ proxy }) => proxy.stop()));
  await servers.end();
  await mariadb.stop();
});

it('no call fails and no ID comes twice while three servers are killed and started again in turn', async () => {
  const client = new LeafClient({
    servers: places.map(({ proxy }) => `http://127.0.0.1:${proxy.port}`),
    timeoutMs: 60_000,
    requestTimeoutMs: 3000,
    // Little is fetched ahead, so that servers are asked all the time.
    segment: { minSize: 20, maxSize: 400 },
    snowflake: { minSize: 20, maxSize: 400 },
  });
  clients.push(client);
  const issued = new Map(TAGS.map((tag) => [tag, new IssuedIds()]));
  const snowflakes: bigint[] = [];
  const failures: unknown[] = [];
  let calls = 0;
  let stopping = false;

  const forever = async (ask: (round: number) => Promise<unknown>): Promise<void> => {
    for (let round = 0; !stopping; round++) {
      try {
        await ask(round);
        calls++;
      } catch (error) {
        failures.push(error);
      }
      // The servers that start need the processor, too.
      await sleep(1);
    }
  };
  const callers = [
    ...TAGS.map((tag) =>
      forever(async (round) => {
        const ids = issued.get(tag)!;
        if (round % 50 === 0) await ids.book(() => client.nextRanges(tag, 700));
        else if (round % 10 === 0) await ids.book(async () => runsOf(await client.nextIds(tag, 30)));
        else await ids.book(async () => runsOf([await client.nextId(tag)]));
      }),
    ),
    forever(async (round) => void snowflakes.push(...(await client.snowflakes(1 + (round % 20))))),
    forever(() => {
      const id = client.trySnowflakeString();
      if (id !== undefined) snowflakes.push(BigInt(id));
      return Promise.resolve();
    }),
  ];

  for (const [index, place] of places.entries()) {
    const requestsOf = (): number => client.snapshot().servers[index]!.requests;
    const [asked, failed] = [requestsOf(), client.snapshot().servers[index]!.failures];
    await until('use of the server', () => requestsOf() > asked + 10);
    await place.process.kill();
    await until('the failure', () => client.snapshot().servers[index]!.failures > failed);
    place.process = await startProcess(place.directory, index);
    place.proxy.retarget(place.process.port);
    await until('the readmission', () => client.snapshot().servers[index]!.state === 'serving');
  }
  stopping = true;
  await Promise.all(callers);

  expect(failures).toStrictEqual([]);
  expect(calls).toBeGreaterThan(1000);
  for (const { ranges } of issued.values()) {
    expect(ranges.length).toBeGreaterThan(100);
    expect(givenTwice(ranges)).toStrictEqual([]);
  }
  expect(snowflakes.length).toBeGreaterThan(1000);
  expect(new Set(snowflakes).size).toBe(snowflakes.length);
});
