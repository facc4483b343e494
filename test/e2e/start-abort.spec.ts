import { createServer, type Server, type Socket } from 'node:net';
import { ensureBuilt } from '../support/build';
import { freePort } from '../support/free-port';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { requireZookeeperClient } from '../support/servers/zookeeper-client';
import { until } from '../support/until';

/** A second, and what a machine adds to the end of a process. */
const LIMIT_MS = 1500;
/** A machine that stands still for a moment delays one end; what waits too long does so each time. */
const MOST_TRIES = 4;

const servers = new BuiltServers();
let silent: Server;
const connections = new Set<Socket>();
let mariadb: MariadbServer;

/** Accepts connections and never answers. */
async function listenSilently(): Promise<Server> {
  const server = createServer((socket) => {
    connections.add(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function silentPort(): number {
  return (silent.address() as { port: number }).port;
}

beforeAll(async () => {
  await Promise.all([ensureBuilt(), requireZookeeperClient()]);
  [silent, mariadb] = await Promise.all([listenSilently(), startMariadb()]);
});
afterEach(() => servers.end());
afterAll(async () => {
  for (const socket of connections) socket.destroy();
  await Promise.all([new Promise((resolve) => silent.close(resolve)), mariadb.stop()]);
});

async function spawn(env: NodeJS.ProcessEnv): Promise<BuiltServer> {
  return servers.spawn(await servers.makeDirectory(), env);
}

/** Milliseconds that the end takes. */
async function endOf(server: BuiltServer, signal: NodeJS.Signals): Promise<number> {
  expect(server.stdout).not.toContain('Listening');
  const begun = performance.now();
  server.signal(signal);
  expect(await server.exit()).toEqual({ code: 0, signal: null });
  const ms = performance.now() - begun;
  expect(server.stderr).toBe('');
  expect(server.stdout.trimEnd().split('\n').at(-1)).toContain('Stopped during the start');
  return ms;
}

/** @param begin a start that waits */
async function expectEnd(begin: () => Promise<BuiltServer>, signal: NodeJS.Signals): Promise<void> {
  let best = Infinity;
  for (let tries = 0; tries < MOST_TRIES && best >= LIMIT_MS; tries++) {
    best = Math.min(best, await endOf(await begin(), signal));
  }
  expect(best).toBeLessThan(LIMIT_MS);
}

/** A start that has said that it waits. */
async function waiting(env: NodeJS.ProcessEnv): Promise<BuiltServer> {
  const server = await spawn(env);
  await until('a warning', () => server.stdout.includes('"warn"'));
  return server;
}

const zookeeper = (port: number): NodeJS.ProcessEnv => ({
  LEAF_SEGMENT_ENABLED: 'false',
  LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle',
  LEAF_ZOOKEEPER: `127.0.0.1:${port}`,
});
const database = (port: number): NodeJS.ProcessEnv => ({ LEAF_DATABASE_URL: `mysql://leaf@127.0.0.1:${port}/leaf` });
const several = (port: number): NodeJS.ProcessEnv => ({
  LEAF_DATABASE_URLS: JSON.stringify({ a: `postgres://leaf@127.0.0.1:${port}/leaf` }),
  LEAF_LOCAL_WORKERS: '{"*":0}',
});

describe('A signal ends a start within a second', () => {
  it.each([
    ['a database', database],
    ['several databases', several],
    ['a database, in two processes,', (port: number) => ({ ...database(port), LEAF_PROCESSES: '2' })],
    ['ZooKeeper', zookeeper],
  ])('while %s accepts the connection and never answers', async (_what, env) => {
    const begin = async (): Promise<BuiltServer> => {
      const before = connections.size;
      const server = await spawn(env(silentPort()));
      await until('a connection', () => connections.size > before);
      return server;
    };
    await expectEnd(begin, 'SIGTERM');
  });

  it.each([
    ['SIGHUP', 'a database', database],
    ['SIGINT', 'ZooKeeper', zookeeper],
  ] as const)('%s, while %s refuses connections', async (signal, _what, env) => {
    const port = await freePort();
    await expectEnd(() => waiting({ ...env(port), LEAF_LOG_FORMAT: 'json' }), signal);
  });
});

it('SIGTERM ends a start whose database is suspended, and leaves no worker ID behind', async () => {
  const url = await mariadb.createDatabase();
  const first = await spawn({ LEAF_DATABASE_URL: url });
  await first.listening();
  first.signal('SIGTERM');
  await first.exit();
  await mariadb.suspend();
  try {
    await expectEnd(() => waiting({ LEAF_DATABASE_URL: url }), 'SIGTERM');
  } finally {
    await mariadb.resume();
  }
  const rows = await mariadb.query(
    `SELECT COUNT(*) AS held FROM ${url.split('/').at(-1)}.leaf_worker_pool WHERE lease_id NOT LIKE '%.free'`,
  );
  expect(Number(rows[0]?.held)).toBe(0);
});
