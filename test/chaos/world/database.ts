import { type MariadbPair, startMariadbPair } from '../../support/mariadb-pair';
import type { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import type { RegistryKind } from './leaf-process';

/** Tags that are there from the beginning. Their segments grow by themselves to what is asked for. */
export const TAGS = ['order', 'user', 'invoice'] as const;
const STEP = 1000;

/** A primary and its semi-synchronous replica, as the servers see them: one address, each through a proxy of its own. */
export class Database {
  private readonly edges: TcpProxy[] = [];
  private repair: Promise<void> = Promise.resolve();

  private constructor(
    private readonly pair: MariadbPair,
    private readonly name: string,
    /** Of the registry `mysql`: one database takes one strategy. */
    private readonly fixedName: string,
  ) {}

  static async start(): Promise<Database> {
    const pair = await startMariadbPair({ semiSync: true });
    const create = async (): Promise<string> => new URL(await pair.primary.createDatabase()).pathname.slice(1);
    return new Database(pair, await create(), await create());
  }

  get port(): number {
    return this.pair.primary.port;
  }

  /** The settings of a server behind `proxy`, which follows the primary from now on. */
  join(proxy: TcpProxy, registry: RegistryKind): Readonly<Record<string, string>> {
    this.edges.push(proxy);
    const url = (name: string): string => `mysql://root@127.0.0.1:${proxy.port}/${name}`;
    if (registry !== 'mysql') return { LEAF_DATABASE_URL: url(this.name) };
    return {
      LEAF_DATABASE_URL: url(this.fixedName),
      LEAF_DATABASE_URLS: JSON.stringify({ segments: url(this.name) }),
    };
  }

  /** Removes what all registries remember. */
  async emptyRegistries(): Promise<void> {
    const tables = [
      `${this.name}.leaf_registry`,
      `${this.name}.leaf_worker_pool`,
      `${this.fixedName}.leaf_registry`,
      `${this.fixedName}.leaf_workerid_alloc`,
    ];
    const deletions = tables.map((table) => `DELETE FROM ${table}`).join('; ');
    await this.pair.primary.query(`START TRANSACTION; ${deletions}; COMMIT`);
  }

  async addTags(): Promise<void> {
    const rows = TAGS.map((tag) => `('${tag}', 1, ${STEP})`).join(', ');
    await this.pair.primary.query(`INSERT INTO ${this.name}.leaf_alloc (biz_tag, max_id, step) VALUES ${rows}`);
  }

  /** Resolves when there is a replica that can take over. */
  whole(): Promise<void> {
    return this.repair;
  }

  kill(): Promise<void> {
    return this.pair.primary.kill();
  }

  restart(): Promise<void> {
    return this.pair.primary.restart();
  }

  suspend(): Promise<void> {
    return this.pair.primary.suspend();
  }

  resume(): Promise<void> {
    return this.pair.primary.resume();
  }

  /**
   * What is written from now on, the replica does not have, as when nobody waits for one that is slow. It has the record
   * of the primary that Leaf makes with its first allocation there: without it, nobody could tell that there was one.
   */
  async leaveReplicaBehind(): Promise<void> {
    const { primary, replica } = this.pair;
    const [own] = await primary.query("SELECT CONCAT('server_id ', @@server_id) AS server");
    await until('record of the primary at the replica', async () => {
      const [known] = await replica.query(`SELECT server FROM ${this.name}.leaf_segment_server`);
      return known?.server === own?.server;
    });
    await this.pair.stopReplication();
  }

  /** The replica takes over from the primary, which was killed. A new replica is made meanwhile: see {@link whole}. */
  async promote(): Promise<void> {
    await this.pair.promote();
    for (const edge of this.edges) {
      edge.retarget(this.port);
      edge.cut();
    }
    this.repair = this.pair.rejoin();
    // Told to whoever waits for it.
    this.repair.catch(() => undefined);
  }

  async stop(): Promise<void> {
    await this.repair.catch(() => undefined);
    await this.pair.stop();
  }
}
