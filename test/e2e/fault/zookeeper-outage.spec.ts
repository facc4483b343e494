import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuilt } from '../../support/build';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { call } from '../../support/http/http';
import { metric } from '../../support/http/metrics';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import { startEnsemble, type ZookeeperEnsemble } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';

/** Longer than the lease TTLs of 10 and 12 s: whoever does not stand in for the registry comes to its end. */
const OUTAGE_MS = Number(process.env.LEAF_TEST_OUTAGE_MS ?? 16_000);
const NORMAL_TTL_S = 10;
const TTL_S = 12;
/** More than any election takes. */
const LONG_TTL_S = 60;
/** More than lies between two reports. */
const REPORT_S = 3;
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

  /** @param reservesS how much time is reserved right after a report */
  constructor(
    readonly server: BuiltServer,
    readonly reservesS: number,
  ) {
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
  /** The same, with time enough to outlast a short fault on a slow machine. */
  let patient: Watch;

  beforeAll(async () => {
    await Promise.all([ensureBuilt(), requireZookeeperClient()]);
    ensemble = await startEnsemble(3);
    await ensemble.leader();
    for (const { port } of ensemble.servers) proxies.push(await TcpProxy.start(port));
    normal = new Watch(await start('zk_normal', NORMAL_TTL_S), NORMAL_TTL_S);
    recycle = new Watch(await start('zk_recycle', TTL_S), TTL_S);
    patient = new Watch(await start('zk_recycle', LONG_TTL_S), LONG_TTL_S);
  });
  afterAll(async () => {
    await Promise.all([normal, recycle, patient].map((watch) => watch.end()));
    await servers.end();
    for (const proxy of proxies) await proxy.stop();
    await ensemble.stop();
  });

  async function start(registry: string, reservesS: number): Promise<BuiltServer> {
    return servers.start(await servers.makeDirectory(), {
      LEAF_SEGMENT_ENABLED: 'false',
      // One place takes one strategy.
      LEAF_NAME: registry,
      LEAF_ADVERTISE_PORT: String(8000 + reservesS),
      LEAF_SNOWFLAKE_REGISTRY: registry,
      LEAF_SNOWFLAKE_OFFLINE: 'local_file',
      LEAF_SNOWFLAKE_LEASE_TTL_MS: String(reservesS * 1000),
      // So that a report that waits for the registry, and a machine that stands still, leave enough of the lease TTL.
      LEAF_SNOWFLAKE_REPORT_MS: '1000',
      LEAF_ZOOKEEPER: proxies.map(({ port }) => `127.0.0.1:${port}`).join(','),
    });
  }

  /** Resolves when reports to the registry succeed again. */
  async function recovered(watch: Watch): Promise<void> {
    const { reservesS, server } = watch;
    const full = async (): Promise<boolean> =>
      (await metric(server.port, 'leaf_registry_trouble')) === 0 &&
      (await metric(server.port, 'leaf_lease_left_seconds'))! > reservesS - REPORT_S;
    await until('recorded time', full, RECOVERY_LIMIT_MS);
    const before = watch.issued;
    await until('an ID', () => watch.issued > before, RECOVERY_LIMIT_MS);
  }

  const everywhere = async (act: (server: ZookeeperEnsemble['servers'][number]) => Promise<unknown>): Promise<void> => {
    await Promise.all(ensemble.servers.map(act));
  };

  it('an election is not noticed by those who ask', async () => {
    const watches = [normal, patient];
    await Promise.all(watches.map((watch) => watch.serving()));
    const leader = await ensemble.leader();
    await leader.kill();
    await ensemble.leader();
    for (const watch of watches) await recovered(watch);
    await leader.restart();
    await ensemble.leader();
    for (const { refusals, notAscending } of watches) expect([[...refusals], notAscending]).toEqual([[], 0]);
  });

  it.each([
    {
      fault: 'the quorum is lost',
      begin: async () => {
        const lost = ensemble.servers.slice(0, 2);
        await Promise.all(lost.map((server) => server.kill()));
        return () => Promise.all(lost.map((server) => server.restart()));
      },
    },
    {
      fault: 'all of them are down',
      begin: async () => {
        await everywhere((server) => server.kill());
        return () => everywhere((server) => server.restart());
      },
    },
    {
      fault: 'nothing gets through',
      begin: () => {
        for (const proxy of proxies) proxy.blackhole();
        const heal = (): Promise<void> => {
          for (const proxy of proxies) proxy.heal();
          return Promise.resolve();
        };
        return Promise.resolve(heal);
      },
    },
  ])('$fault: zk_normal goes on, zk_recycle up to its ceiling, both recover', async ({ fault, begin }) => {
    await Promise.all([normal.serving(), recycle.serving()]);
    const before = [normal.issued, recycle.issued];
    const end = await begin();
    await sleep(OUTAGE_MS);
    // It comes to its ceiling, and gives nothing above it.
    await until('a refusal', () => recycle.refusals.size > 0);
    expect([...recycle.refusals.keys()]).toEqual(['LEAF_LEASE_EXPIRED']);
    const ready = await call(recycle.server.port, '/health/ready');
    expect(ready.status).toBe(503);
    expect([...normal.refusals]).toStrictEqual([]);
    await end();
    const healed = performance.now();
    await recovered(normal);
    expect([...normal.refusals]).toStrictEqual([]);
    await recovered(recycle);
    process.stdout.write(`${fault}: recorded again ${Math.round(performance.now() - healed)} ms after the end\n`);
    expect([normal.notAscending, recycle.notAscending]).toEqual([0, 0]);
    process.stdout.write(
      `${fault}: zk_normal issued ${normal.issued - before[0]!}, zk_recycle ${recycle.issued - before[1]!} meanwhile\n`,
    );
  });
});
