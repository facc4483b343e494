import { defaultLayout } from '@leaf-ids/core/internal';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { call, text } from '../support/http/http';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { problemCode } from '../support/http/problem';
import { ready } from '../support/servers/readiness';
import { settle } from '../support/servers/server-registries';
import { TcpProxy } from '../support/http/tcp-proxy';
import { until } from '../support/until';

const GET = '/api/snowflake/get/order';
const LEASE_TTL_MS = 8000;
/** Longer than a start takes beside a fleet of others, so that a server that waits for this time can be examined. */
const LONG_TTL_MS = 24_000;

const servers = new BuiltServers();
let mariadb: MariadbServer;
let proxy: TcpProxy;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  [mariadb] = await Promise.all([startMariadb(), ensureBuilt()]);
});
afterAll(() => mariadb.stop());
beforeEach(async () => {
  const url = await mariadb.createDatabase();
  await settle({ strategy: 'mysql', url, migrate: true });
  proxy = await TcpProxy.start(mariadb.port);
  env = {
    LEAF_DATABASE_URL: url.replace(`:${mariadb.port}/`, `:${proxy.port}/`),
    LEAF_SNOWFLAKE_REGISTRY: 'mysql',
    LEAF_SNOWFLAKE_OFFLINE: 'local_file',
    LEAF_SNOWFLAKE_LEASE_TTL_MS: String(LEASE_TTL_MS),
    LEAF_SNOWFLAKE_REPORT_MS: '500',
    LEAF_ADVERTISE_PORT: '8080',
  };
});
afterEach(async () => {
  await servers.end();
  await proxy.stop();
});

async function issue({ port }: BuiltServer): Promise<{ timestamp: number; workerId: number }> {
  return defaultLayout().decompose(BigInt(await text(port, GET)));
}

async function refusal({ port }: BuiltServer): Promise<string> {
  expect((await call(port, '/health/ready')).status).toBe(503);
  return problemCode(await call(port, GET));
}

it('a server that was killed has its worker again once its reserved time has passed, and serves segments before', async () => {
  const directory = await servers.makeDirectory();
  const long = { ...env, LEAF_SNOWFLAKE_LEASE_TTL_MS: String(LONG_TTL_MS) };
  const first = await servers.start(directory, long);
  const before = await issue(first);
  await first.kill();
  const again = await servers.start(directory, long);
  expect(await refusal(again)).toBe('LEAF_NOT_READY');
  expect(again.stdout).toContain('worker ID not held yet');
  expect(await text(again.port, '/api/segment/get/leaf-segment-test')).toMatch(/^\d+$/);
  await ready(again.port);
  const after = await issue(again);
  expect(after.workerId).toBe(before.workerId);
  expect(after.timestamp).toBeGreaterThan(before.timestamp);
});

it('a second server of the same address and port is refused the worker, stays up, and takes it when it is given back', async () => {
  const first = await servers.start(await servers.makeDirectory(), env);
  const before = await issue(first);
  const twin = await servers.start(await servers.makeDirectory(), env);
  await until('the refusal', async () => (await refusal(twin)) === 'LEAF_WORKER_HELD');
  expect(await text(twin.port, '/api/segment/get/leaf-segment-test')).toMatch(/^\d+$/);
  await ready(first.port);
  expect((await issue(first)).workerId).toBe(before.workerId);
  first.signal('SIGTERM');
  await first.exit();
  await ready(twin.port);
  expect((await issue(twin)).workerId).toBe(before.workerId);
});

it('its file stands in for a registry that is away after a crash, and not after a stop', async () => {
  const directory = await servers.makeDirectory();
  const offline = { ...env, LEAF_SEGMENT_ENABLED: 'false' };
  const first = await servers.start(directory, offline);
  const { workerId, timestamp } = await issue(first);
  await first.kill();
  proxy.refuse();
  const crashed = await servers.start(directory, offline);
  await ready(crashed.port);
  const after = await issue(crashed);
  expect(after.workerId).toBe(workerId);
  expect(after.timestamp).toBeGreaterThan(timestamp);
  proxy.heal();
  await until('the registry', () => crashed.stdout.includes('is reachable again'));
  crashed.signal('SIGTERM');
  expect(await crashed.exit()).toEqual({ code: 0, signal: null });
  proxy.refuse();
  const stopped = servers.spawn(directory, offline);
  await until('the reason', () => stopped.stdout.includes('released the worker ID at its last stop'));
  expect(stopped.stdout).not.toContain('Listening');
  proxy.heal();
  await stopped.listening();
  await ready(stopped.port);
  expect((await issue(stopped)).workerId).toBe(workerId);
});
