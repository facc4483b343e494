import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { policyOf } from '@leaf-ids/registry';
import { ADMIN_TOKEN } from '../../../support/http/admin';
import { freePort } from '../../../support/free-port';
import { guarded } from '../../../support/servers/private-server';
import { until } from '../../../support/until';
import { Coordinator, type CoordinatorKind } from './coordinator';
import { DataDirectory } from './data-directory';
import { Database, type DatabaseKind, PASSING_TAGS, TAGS } from './database';
import { Disk, unmountLeftBehind } from './disk';
import { closeEdges, openEdges } from './edges';
import { Gate } from './gate';
import { LeafProcess, type RegistryKind } from './leaf-process';
import { ServerClock } from './server-clock';
import { emptyRegistries } from './zookeeper-nodes';

/**
 * Time that `zk_normal` and `mysql` reserve ahead. A start after a kill waits for as much; a registry that falls silent
 * is given up after 4 s, and until then the time must not be over. When a registry has lost its history, a holder
 * registers again until 5 s before the end.
 */
export const FIXED_TTL_MS = 8000;
/**
 * Likewise the pools, which have nothing to go on from when their registry is away. An outage that follows at once on a
 * failover finds holders that have not registered again yet: they can until 5 s before the end.
 */
const POOL_TTL_MS = 30_000;
/** How long newcomers wait in a young registry at most, with what is assumed of clocks that nobody compares. */
export const GRACE_MS = 14_000;
export const REPORT_MS = 1000;
/** Of the servers after those that use the coordinator. */
const DATABASE_REGISTRIES: readonly RegistryKind[] = ['mysql', 'database'];
const START_LIMIT_MS = 120_000;
const PREFIX = 'leaf-chaos-';

/**
 * Of this process alone: whoever takes the port of a killed server meanwhile, for another test, is not taken for that
 * server.
 */
const HOST = ['127', 1 + ((process.pid >> 16) & 127), (process.pid >> 8) & 255, process.pid & 255].join('.');

const COMMON = {
  LEAF_HOST: HOST,
  LEAF_ADVERTISE_HOST: '127.0.0.1',
  LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
  LEAF_SNOWFLAKE_REPORT_MS: String(REPORT_MS),
  // Stepped clocks are the matter here: nobody is turned away because of the clocks of the others.
  LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '0',
  LEAF_SEGMENT_REFRESH_MS: '2000',
  // A segment lasts this long at least, so that a database may be away for some seconds.
  LEAF_SEGMENT_DURATION_MS: '6000',
  // Of one tag, five servers allocate more often than the default allows for while a replica is left behind.
  LEAF_SEGMENT_FAILOVER_GAP_STEPS: '30',
  LEAF_SHUTDOWN_DRAIN_MS: '500',
  // A machine that stands still for a moment is no overload.
  LEAF_MAX_LAG_MS: '60000',
  LEAF_LOG_FORMAT: 'json',
};

/** All that a run consists of but its callers: servers, database, coordinator, and a proxy on every edge between them. */
export class ChaosWorld {
  readonly servers: LeafProcess[] = [];
  /** By the name of the server; none where they are not possible. */
  readonly disks = new Map<string, Disk>();
  /** Those that callers ask for. */
  readonly tags: readonly string[] = [...TAGS, ...PASSING_TAGS];
  /** What changes tags passes here: closed by faults that would lose such a change. */
  readonly tagChanges = new Gate();

  private constructor(
    private readonly directory: string,
    readonly database: Database,
    readonly coordinator: Coordinator,
  ) {}

  static async start(
    kind: DatabaseKind,
    coordinatorKind: CoordinatorKind,
    serverFile: string,
    logs: string,
  ): Promise<ChaosWorld> {
    await removeLeftBehind();
    const directory = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
    await mkdir(logs, { recursive: true });
    const [database, coordinator] = await Promise.all([Database.start(kind), Coordinator.start(coordinatorKind)]);
    const world = new ChaosWorld(directory, database, coordinator);
    try {
      const disks = await Disk.isPossible(directory);
      for (const registry of [...coordinator.registries, ...DATABASE_REGISTRIES])
        await world.add(registry, serverFile, logs, disks);
      await world.begin();
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  /** What is not well anywhere; undefined when all edges serve. */
  async trouble(): Promise<string | undefined> {
    const troubles = await Promise.all(this.servers.map((server) => server.trouble()));
    return troubles.find((trouble) => trouble !== undefined);
  }

  /** Removes what all registries in ZooKeeper remember. */
  emptyZookeeper(): Promise<void> {
    return emptyRegistries(this.coordinator.ensemble.hosts);
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await Promise.all(this.servers.map(({ edges }) => closeEdges(edges)));
    for (const disk of this.disks.values()) await disk.unmount();
    await Promise.all([this.database.stop(), this.coordinator.stop()]);
    await rm(this.directory, { recursive: true, force: true });
  }

  private async add(registry: RegistryKind, serverFile: string, logs: string, disks: boolean): Promise<void> {
    const name = 'abcde'.charAt(this.servers.length);
    const port = await freePort();
    const { coordinator, database } = this;
    const edges = await openEdges(HOST, port, database.portFor(registry), coordinator.portsOf(registry));
    const home = join(this.directory, name);
    const directory = join(home, 'data');
    await mkdir(directory, { recursive: true });
    if (disks) this.disks.set(name, await Disk.mount(directory));
    const clock = await ServerClock.create(home);
    const data = new DataDirectory(directory, join(home, 'copy'));
    const env = {
      ...COMMON,
      // One place takes one strategy.
      LEAF_NAME: `chaos-${registry}`,
      LEAF_PORT: String(port),
      LEAF_ADVERTISE_PORT: String(edges.client.port),
      LEAF_DATA_DIR: directory,
      ...database.join(edges.database, registry),
      LEAF_SNOWFLAKE_REGISTRY: registry,
      LEAF_SNOWFLAKE_LEASE_TTL_MS: String(policyOf(registry) === 'pool' ? POOL_TTL_MS : FIXED_TTL_MS),
      LEAF_SNOWFLAKE_OFFLINE: 'local_file',
      LEAF_STEP_LOG: stepsOf(logs),
      ...coordinator.settingsOf(
        registry,
        edges.coordinator.map((proxy) => proxy.port),
      ),
    };
    const logFile = join(logs, `server-${name}.log`);
    const command = await guarded([process.execPath, serverFile]);
    const place = { name, registry, host: HOST, port };
    this.servers.push(new LeafProcess({ ...place, command, logFile, env, edges, clock, data }));
  }

  private async begin(): Promise<void> {
    const [first, ...others] = this.servers;
    await first!.start();
    await until('first server', async () => (await first!.trouble()) === undefined, START_LIMIT_MS);
    await this.database.addTags();
    await Promise.all(others.map((server) => server.start()));
    let last: string | undefined;
    const well = async (): Promise<boolean> => (last = await this.trouble()) === undefined;
    await until('all servers', well, START_LIMIT_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${last ?? ''}`);
    });
  }
}

/** The directory for the step logs of the servers. */
export function stepsOf(logs: string): string {
  return join(logs, 'steps');
}

async function removeLeftBehind(): Promise<void> {
  const isLeftBehind = (path: string): boolean => {
    const pid = new RegExp(`/${PREFIX}(\\d+)-`).exec(`${path}/`)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  };
  await unmountLeftBehind(isLeftBehind);
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name);
    if (isLeftBehind(path)) await rm(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
