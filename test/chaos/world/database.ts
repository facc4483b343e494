import { type MariadbPair, startMariadbPair } from '../../support/mariadb-pair';
import type { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';

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
  ) {}

  static async start(): Promise<Database> {
    const pair = await startMariadbPair({ semiSync: true });
    const url = await pair.primary.createDatabase();
    return new Database(pair, new URL(url).pathname.slice(1));
  }

  get port(): number {
    return this.pair.primary.port;
  }

  /** The URL for a server behind `proxy`, which follows the primary from now on. */
  join(proxy: TcpProxy): string {
    this.edges.push(proxy);
    return `mysql://root@127.0.0.1:${proxy.port}/${this.name}`;
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
