import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/built-server';
import { call } from '../support/http';
import { metric } from '../support/metrics';
import { TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';
import { startEnsemble, type ZookeeperEnsemble } from '../support/zookeeper';
import { requireZookeeperClient } from '../support/zookeeper-client';

/** Longer than the horizon and the reservation: whoever does not stand in for the registry comes to its end. */
const OUTAGE_MS = Number(process.env.LEAF_TEST_OUTAGE_MS ?? 16_000);
const TTL_MS = 12_000;
const RECOVERY_LIMIT_MS = 60_000;
const PAUSE_MS = 10;

/** Asks one server without an end, and keeps what it said. */
class Watch {
  issued = 0;
  /** Codes of refusals since the last look. */
  readonly refusals = new Map<string, number>();
  notAscending = 0;
  private last = 0n;
  private ended = false;
  private readonly done: Promise<void>;
  private readonly agent = new Agent({ keepAlive: true });

  constructor(readonly server: BuiltServer) {
    this.done = this.ask();
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.done;
    this.agent.destroy();
  }

  /** Resolves when an ID has come, and forgets the refusals before it. */
  async serving(): Promise<void> {
    const before = this.issued;
    await until('an ID', () => this.issued > before, RECOVERY_LIMIT_MS);
    this.refusals.clear();
  }

  private async ask(): Promise<void> {
    while (!this.ended) {
      const { status, body } = await call(this.server.port, '/api/snowflake/get/x', { agent: this.agent });
      if (status === 200) {
        const id = BigInt(body);
        if (id <= this.last) this.notAscending++;
        this.last = id;
        this.issued++;
      } else {
        const { code } = JSON.parse(body) as { code: string };
        this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      }
      await sleep(PAUSE_MS);
    }
  }
}

describe('ZooKeeper registries through outages of the ensemble', () => {
  const servers = new BuiltServers();
  const proxies: TcpProxy[] = [];
  let ensemble: ZookeeperEnsemble;
  let normal: Watch;
  let recycle: Watch;

  beforeAll(async () => {
    await Promise.all([ensureBuilt(), requireZookeeperClient()]);
    ensemble = await startEnsemble(3);
    await ensemble.leader();
    for (const { port } of ensemble.servers) proxies.push(await TcpProxy.start(port));
    normal = new Watch(await start('zk_normal'));
    recycle = new Watch(await start('zk_recycle'));
  });
  afterAll(async () => {
    await normal.end();
    await recycle.end();
    await servers.end();
    for (const proxy of proxies) await proxy.stop();
    await ensemble.stop();
  });

  async function start(registry: string): Promise<BuiltServer> {
    return servers.start(await servers.makeDirectory(), {
      LEAF_SEGMENT_ENABLED: 'false',
      LEAF_SNOWFLAKE_REGISTRY: registry,
      LEAF_SNOWFLAKE_LEASE_TTL_MS: String(TTL_MS),
      LEAF_ZOOKEEPER: proxies.map(({ port }) => `127.0.0.1:${port}`).join(','),
    });
  }

  /** The registry records again what is reserved. */
  async function recovered(watch: Watch): Promise<void> {
    const { port } = watch.server;
    const full = async (): Promise<boolean> =>
      (await metric(port, 'leaf_registry_trouble')) === 0 && (await metric(port, 'leaf_lease_left_seconds'))! > 7;
    await until('recorded time', full, RECOVERY_LIMIT_MS);
    const before = watch.issued;
    await until('an ID', () => watch.issued > before, RECOVERY_LIMIT_MS);
  }

  const everywhere = async (act: (server: ZookeeperEnsemble['servers'][number]) => Promise<unknown>): Promise<void> => {
    await Promise.all(ensemble.servers.map(act));
  };

  it.each([
    {
      fault: 'the leader is killed',
      short: true,
      begin: async () => {
        const leader = await ensemble.leader();
        await leader.kill();
        return () => leader.restart();
      },
    },
    {
      fault: 'the quorum is lost',
      short: false,
      begin: async () => {
        const lost = ensemble.servers.slice(0, 2);
        await Promise.all(lost.map((server) => server.kill()));
        return () => Promise.all(lost.map((server) => server.restart()));
      },
    },
    {
      fault: 'all of them are down',
      short: false,
      begin: async () => {
        await everywhere((server) => server.kill());
        return () => everywhere((server) => server.restart());
      },
    },
    {
      fault: 'nothing gets through',
      short: false,
      begin: () => {
        for (const proxy of proxies) proxy.blackhole();
        const heal = (): Promise<void> => {
          for (const proxy of proxies) proxy.heal();
          return Promise.resolve();
        };
        return Promise.resolve(heal);
      },
    },
  ])('$fault: zk_normal goes on, zk_recycle up to its ceiling, both recover', async ({ fault, short, begin }) => {
    await Promise.all([normal.serving(), recycle.serving()]);
    const before = [normal.issued, recycle.issued];
    const end = await begin();
    if (short) {
      await recovered(normal);
      await recovered(recycle);
      await end();
      await ensemble.leader();
      expect([...normal.refusals, ...recycle.refusals]).toEqual([]);
    } else {
      await sleep(OUTAGE_MS);
      expect([...normal.refusals]).toEqual([]);
      // It has come to its ceiling, and gave nothing above it.
      expect([...recycle.refusals.keys()]).toEqual(['LEAF_LEASE_EXPIRED']);
      const ready = await call(recycle.server.port, '/health/ready');
      expect(ready.status).toBe(503);
      await end();
      const healed = performance.now();
      await recovered(normal);
      expect([...normal.refusals]).toEqual([]);
      await recovered(recycle);
      process.stdout.write(`${fault}: recorded again ${Math.round(performance.now() - healed)} ms after the end\n`);
    }
    expect([normal.notAscending, recycle.notAscending]).toEqual([0, 0]);
    process.stdout.write(
      `${fault}: zk_normal issued ${normal.issued - before[0]!}, zk_recycle ${recycle.issued - before[1]!} meanwhile\n`,
    );
  });
});
