import { defaultLayout } from '@leaf-ids/core/internal';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { text } from '../support/http/http';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { ready } from '../support/servers/readiness';
import { stopwatch } from '../support/starvation';

/** How long a start after a crash would wait with a registry that waits for the reserved time. */
const TTL_MS = 3_600_000;
/** For the start of a process, without what it waits for a processor; a grace period lasts 14 s. */
const LIMIT_MS = 10_000;
const servers = new BuiltServers();
let mariadb: MariadbServer;
beforeAll(async () => {
  [mariadb] = await Promise.all([startMariadb(), ensureBuilt()]);
});
afterAll(() => mariadb.stop());
afterEach(() => servers.end());

/** Starts a server as a container platform does: with a new address and an empty disk. */
async function start(env: NodeJS.ProcessEnv, advertised: number): Promise<BuiltServer> {
  const server = await servers.start(await servers.makeDirectory(), {
    ...env,
    LEAF_ADVERTISE_PORT: String(advertised),
  });
  await ready(server.port);
  return server;
}

async function issue({ port }: BuiltServer): Promise<{ timestamp: number; workerId: number }> {
  return defaultLayout().decompose(BigInt(await text(port, '/api/snowflake/get/order')));
}

it('two servers that are given one database and nothing else issue as different workers', async () => {
  const env = { LEAF_DATABASE_URL: await mariadb.createDatabase() };
  const pair = await Promise.all([8080, 8081].map((port) => start(env, port)));
  const [first, second] = await Promise.all(pair.map(issue));
  expect(first!.workerId).not.toBe(second!.workerId);
  const segments = await Promise.all(pair.map(({ port }) => text(port, '/api/segment/get/leaf-segment-test')));
  expect(segments[0]).not.toBe(segments[1]);
});

it('the replacement of a server that was killed issues at once, as another worker', async () => {
  const env = {
    LEAF_DATABASE_URL: await mariadb.createDatabase(),
    LEAF_SNOWFLAKE_LEASE_TTL_MS: String(TTL_MS),
  };
  const first = await start(env, 8080);
  const before = await issue(first);
  await first.kill();
  const time = stopwatch();
  const after = await issue(await start(env, 8081));
  expect(after.workerId).not.toBe(before.workerId);
  expect(time()).toBeLessThan(LIMIT_MS);
});

it('a second server of the same address and port issues as another worker, too', async () => {
  const env = { LEAF_DATABASE_URL: await mariadb.createDatabase() };
  const pair = [await start(env, 8080), await start(env, 8080)];
  const [first, second] = await Promise.all(pair.map(issue));
  expect(first!.workerId).not.toBe(second!.workerId);
});

it.each([
  ['LEAF_REGISTRY_MISMATCH', { LEAF_SNOWFLAKE_REGISTRY: 'mysql' }],
  ['LEAF_LAYOUT_MISMATCH', { LEAF_SNOWFLAKE_BITS: '41,9,13' }],
])('a server that could give the same IDs does not start: %s', async (code, other) => {
  const env = { LEAF_DATABASE_URL: await mariadb.createDatabase() };
  const first = await start(env, 8080);
  const stranger = servers.spawn(await servers.makeDirectory(), { ...env, ...other, LEAF_ADVERTISE_PORT: '8081' });
  expect(await stranger.exit()).toEqual({ code: 1, signal: null });
  expect(stranger.stderr).toMatch(new RegExp(`^leaf-server cannot start: ${code}: `));
  await issue(first);
});
