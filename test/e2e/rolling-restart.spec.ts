import { ensureBuilt } from '../support/build';
import { freePorts } from '../support/free-port';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { LoadBalancer } from '../support/servers/load-balancer';
import { Callers } from '../support/http/callers';
import { RoundRobinProxy } from '../support/http/round-robin-proxy';

/** Each round restarts every server once. `ROLLING_RESTARTS=10 npx jest test/e2e/rolling-restart` does ten. */
const ROUNDS = Number(process.env['ROLLING_RESTARTS'] ?? 1);
const SERVERS = 3;
const CALLERS = 8;
/** Many times the interval in which the proxies check, however busy the machine. */
const DRAIN = { LEAF_SHUTDOWN_DRAIN_MS: '5000' };
const PATHS = ['/api/segment/get/leaf-segment-test', '/api/snowflake/get/order'];
const LIMIT_MS = 60_000 + ROUNDS * 60_000;

/** What the test needs of a proxy; those with a configuration file know all servers from the start. */
interface Proxy {
  readonly port: number;
  readonly failures?: readonly string[];
  /** Resolves when requests go there, too. */
  add?(port: number): Promise<void>;
  remove?(port: number): void;
  stop(): Promise<void>;
}

const PROXIES: Readonly<Record<string, (ports: readonly number[]) => Promise<Proxy>>> = {
  'a proxy that tries nothing twice': () => RoundRobinProxy.start(),
  haproxy: (ports) => LoadBalancer.start('haproxy', ports),
  nginx: (ports) => LoadBalancer.start('nginx', ports),
};

const servers = new BuiltServers();
let proxy: Proxy | undefined;

beforeAll(ensureBuilt);
afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
  await servers.end();
});

it.each(Object.keys(PROXIES))(
  'behind %s, servers restarted one by one under load fail no request and give no ID twice',
  async (name) => {
    const directory = await servers.makeDirectory();
    const ports = await freePorts(SERVERS);
    const start = async (worker: number): Promise<BuiltServer> => {
      const env = { ...DRAIN, LEAF_PORT: String(ports[worker]), LEAF_LOCAL_WORKERS: `{"*":${worker}}` };
      const server = await servers.start(directory, env);
      await proxy?.add?.(server.port);
      return server;
    };
    const fleet: BuiltServer[] = [];
    for (let worker = 0; worker < SERVERS; worker++) fleet.push(await start(worker));
    proxy = await PROXIES[name]!(ports);
    for (const port of ports) await proxy.add?.(port);

    const callers = new Callers(proxy.port, PATHS, CALLERS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [worker, server] of fleet.entries()) {
        server.signal('SIGTERM');
        expect(await server.exit()).toEqual({ code: 0, signal: null });
        proxy.remove?.(server.port);
        fleet[worker] = await start(worker);
      }
    }
    const { ids, failures } = await callers.stop();

    expect([...failures, ...(proxy.failures ?? [])]).toStrictEqual([]);
    for (const [path, some] of ids) {
      expect(new Set(some).size).toBe(some.length);
      console.info(`${name}, ${path}: ${some.length} IDs, ${ROUNDS * SERVERS} restarts`);
      expect(some.length).toBeGreaterThan(100 * SERVERS);
    }
  },
  LIMIT_MS,
);
