import { Agent } from 'node:http';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { call } from '../support/http/http';
import { RoundRobinProxy } from '../support/http/round-robin-proxy';

/** Each round restarts every server once. `ROLLING_RESTARTS=10 npx jest test/e2e/rolling-restart` does ten. */
const ROUNDS = Number(process.env['ROLLING_RESTARTS'] ?? 1);
const SERVERS = 3;
const CALLERS = 8;
/** Many times the interval in which the proxy looks, however busy the machine. */
const DRAIN = { LEAF_SHUTDOWN_DRAIN_MS: '5000' };
const PATHS = ['/api/segment/get/leaf-segment-test', '/api/snowflake/get/order'];
const LIMIT_MS = 60_000 + ROUNDS * 60_000;

const servers = new BuiltServers();
let proxy: RoundRobinProxy;

beforeAll(ensureBuilt);
beforeEach(async () => (proxy = await RoundRobinProxy.start()));
afterEach(async () => {
  await proxy.stop();
  await servers.end();
});

it(
  'servers restarted one by one under load fail no request and give no ID twice',
  async () => {
    const directory = await servers.makeDirectory();
    const start = async (worker: number): Promise<BuiltServer> => {
      const server = await servers.start(directory, { ...DRAIN, LEAF_LOCAL_WORKERS: `{"*":${worker}}` });
      await proxy.add(server.port);
      return server;
    };
    const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
    const ids: [string[], string[]] = [[], []];
    const failures: string[] = [];
    let stopped = false;
    const caller = async (kind: 0 | 1): Promise<void> => {
      while (!stopped) {
        const { status, body } = await call(proxy.port, PATHS[kind]!, { agent });
        if (status === 200) ids[kind].push(body);
        else failures.push(`${status} ${body}`);
      }
    };

    const first = await start(0);
    const callers = Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index % 2 === 0 ? 0 : 1)));
    const fleet = [first];
    for (let worker = 1; worker < SERVERS; worker++) fleet.push(await start(worker));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [worker, server] of fleet.entries()) {
        server.signal('SIGTERM');
        expect(await server.exit()).toEqual({ code: 0, signal: null });
        proxy.remove(server.port);
        fleet[worker] = await start(worker);
      }
    }
    stopped = true;
    await callers;
    agent.destroy();

    expect([...failures, ...proxy.failures]).toEqual([]);
    for (const [index, some] of ids.entries()) {
      expect(new Set(some).size).toBe(some.length);
      console.info(`${PATHS[index]}: ${some.length} IDs, ${ROUNDS * SERVERS} restarts`);
    }
    expect(ids[0].length).toBeGreaterThan(100 * SERVERS);
    expect(ids[1].length).toBeGreaterThan(100 * SERVERS);
  },
  LIMIT_MS,
);
