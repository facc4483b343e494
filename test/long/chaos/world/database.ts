import type { DatabasePair } from '../../../support/servers/database-pair';
import { startMariadbPair } from '../../../support/servers/mariadb-pair';
import { type PgbouncerServer, startPgbouncer } from '../../../support/servers/pgbouncer';
import { startPostgresPair } from '../../../support/servers/postgres-pair';
import { TcpProxy } from '../../../support/http/tcp-proxy';
import { until } from '../../../support/until';
import type { RegistryKind } from './leaf-process';

/** Tags that are there from the beginning, and stay. Their segments grow by themselves to what is asked for. */
export const TAGS = ['order', 'user', 'invoice'] as const;
/** Tags that are deleted and created again all the time. */
export const PASSING_TAGS = ['passing-1', 'passing-2'] as const;
const STEP = 1000;

export const DATABASES = ['mariadb', 'postgres'] as const;
export type DatabaseKind = (typeof DATABASES)[number];

const START: Readonly<Record<DatabaseKind, () => Promise<DatabasePair>>> = {
  mariadb: () => startMariadbPair({ semiSync: true }),
  postgres: () => startPostgresPair({ synchronous: true }),
};

/** Servers with these registries reach PostgreSQL through PgBouncer. */
const POOLED: readonly RegistryKind[] = ['zk_recycle', 'database'];

/** PgBouncer, and the proxy between it and the primary. */
interface Pooler {
  readonly server: PgbouncerServer;
  readonly edge: TcpProxy;
}

/** The name and the user's URL of one database. */
interface Schema {
  readonly name: string;
  readonly url: string;
}

/**
 * A primary and its synchronous replica, as the servers see them: one address, each through a proxy of its own. Some
 * go through PgBouncer, where the database is PostgreSQL.
 */
export class Database {
  /** All proxies that lead to the primary. */
  private readonly edges: TcpProxy[] = [];
  /** What is left to do before there is a replica again. */
  private repair: (() => Promise<void>) | undefined;
  private repaired: Promise<void> = Promise.resolve();

  private constructor(
    private readonly pair: DatabasePair,
    private readonly main: Schema,
    /** Of the registry `mysql`: one database takes one strategy. */
    private readonly fixed: Schema,
    private readonly pooled: Pooler | undefined,
  ) {
    if (pooled !== undefined) this.edges.push(pooled.edge);
  }

  static async start(kind: DatabaseKind): Promise<Database> {
    const pair = await START[kind]();
    const create = async (): Promise<Schema> => {
      const url = await pair.primary.createOwnedDatabase();
      return { name: new URL(url).pathname.slice(1), url };
    };
    const [main, fixed] = [await create(), await create()];
    return new Database(pair, main, fixed, kind === 'postgres' ? await startPooler(pair.primary.port) : undefined);
  }

  /** Some servers are behind it; on PostgreSQL only. */
  get pooler(): PgbouncerServer {
    if (this.pooled === undefined) throw new Error('No pooler stands before this database');
    return this.pooled.server;
  }

  /** Where a server with this registry finds the primary, or what stands before it. */
  portFor(registry: RegistryKind): number {
    return this.isPooled(registry) ? this.pooler.port : this.port;
  }

  isPooled(registry: RegistryKind): boolean {
    return this.pooled !== undefined && POOLED.includes(registry);
  }

  /** The settings of a server behind `proxy`, which follows the primary from now on. */
  join(proxy: TcpProxy, registry: RegistryKind): Readonly<Record<string, string>> {
    if (!this.isPooled(registry)) this.edges.push(proxy);
    const through = ({ url }: Schema): string => {
      const own = new URL(url);
      own.port = String(proxy.port);
      return own.href;
    };
    if (registry !== 'mysql') return { LEAF_DATABASE_URL: through(this.main) };
    return {
      LEAF_DATABASE_URL: through(this.fixed),
      LEAF_DATABASE_URLS: JSON.stringify({ segments: through(this.main) }),
    };
  }

  /** Removes what all registries remember. */
  async emptyRegistries(): Promise<void> {
    await this.run(this.main, ['DELETE FROM leaf_registry', 'DELETE FROM leaf_worker_pool']);
    await this.run(this.fixed, ['DELETE FROM leaf_registry', 'DELETE FROM leaf_workerid_alloc']);
  }

  async addTags(): Promise<void> {
    const rows = [...TAGS, ...PASSING_TAGS].map((tag) => `('${tag}', 1, ${STEP})`).join(', ');
    await this.run(this.main, [`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ${rows}`]);
  }

  /**
   * Resolves when there is a replica that can take over, and Leaf has recorded the primary. A primary that fails before
   * is never noticed if the next one has the `server_id` of the one before it.
   */
  async whole(): Promise<void> {
    const { repair } = this;
    this.repair = undefined;
    if (repair !== undefined) this.repaired = repair();
    await this.repaired;
    await this.recorded();
  }

  kill(): Promise<void> {
    return this.pair.primary.kill();
  }

  restart(): Promise<void> {
    return this.pair.restart();
  }

  suspend(): Promise<void> {
    return this.pair.primary.suspend();
  }

  resume(): Promise<void> {
    return this.pair.primary.resume();
  }

  /** Somebody else locks the row of `tag` in a transaction; resolves with what ends it. */
  lockRow(tag: string): Promise<() => Promise<void>> {
    return this.hold(['BEGIN', `SELECT max_id FROM leaf_alloc WHERE biz_tag = '${tag}' FOR UPDATE`]);
  }

  /** Somebody else locks the rows of all tags, and the table; resolves with what ends it. */
  lockTags(): Promise<() => Promise<void>> {
    return this.hold(this.pair.primary.lockTable('leaf_alloc'));
  }

  /**
   * What is written from now on, the replica does not have, as when nobody waits for one that is slow. It has the record
   * of the primary that Leaf makes with its first allocation there: without it, nobody could tell that there was one.
   */
  async leaveReplicaBehind(): Promise<void> {
    await this.recorded();
    await this.pair.waitForReplica();
    await this.pair.stopReplication();
  }

  /** The replica takes over from the primary, which was killed. A new replica is made meanwhile: see {@link whole}. */
  async promote(): Promise<void> {
    await this.pair.promote();
    for (const edge of this.edges) {
      edge.retarget(this.port);
      edge.cut();
    }
    this.repair = () => this.pair.rejoin();
    // Told to whoever waits for it.
    this.whole().catch(() => undefined);
  }

  /**
   * The replica takes over from a primary that takes no writes any more. Connections to that one stay open, and nobody
   * ends them before {@link whole}: only new ones find the new primary.
   */
  async switchOver(): Promise<void> {
    await this.pair.primary.turnReadOnly();
    await this.pair.waitForReplica();
    await this.pair.promote();
    for (const edge of this.edges) edge.retarget(this.port);
    await this.pooled?.server.reconnect();
    this.repair = () => this.pair.rejoin();
  }

  async stop(): Promise<void> {
    await this.repaired.catch(() => undefined);
    await this.pooled?.server.stop();
    await this.pooled?.edge.stop();
    await this.pair.stop();
  }

  private get port(): number {
    return this.pair.primary.port;
  }

  /** Resolves when the records of segments and of both worker registries name the present primary. */
  private async recorded(): Promise<void> {
    const [own] = await this.run(this.main, [`SELECT ${this.pair.primary.identity} AS server`]);
    await until('records of the primary', async () => {
      const servers = await this.run(this.main, ['SELECT server FROM leaf_segment_server']);
      const registries = [...(await this.documents(this.main)), ...(await this.documents(this.fixed))];
      return [...servers.map(({ server }) => server), ...registries].every((server) => server === own?.server);
    });
  }

  private async documents(schema: Schema): Promise<unknown[]> {
    const rows = await this.run(schema, ['SELECT document FROM leaf_registry']);
    return rows.map(({ document }) => (JSON.parse(String(document)) as { origin: unknown }).origin);
  }

  private async run({ name }: Schema, statements: readonly string[]): Promise<Record<string, unknown>[]> {
    const session = await this.pair.primary.open(name);
    try {
      let rows: Record<string, unknown>[] = [];
      for (const sql of ['BEGIN', ...statements]) rows = await session.query(sql);
      await session.query('COMMIT');
      return rows;
    } finally {
      await session.close();
    }
  }

  private async hold(statements: readonly string[]): Promise<() => Promise<void>> {
    const session = await this.pair.primary.open(this.main.name);
    try {
      for (const sql of statements) await session.query(sql);
    } catch (error) {
      await session.close();
      throw error;
    }
    return () => session.close();
  }
}

async function startPooler(primaryPort: number): Promise<Pooler> {
  const edge = await TcpProxy.start(primaryPort);
  return { edge, server: await startPgbouncer(edge.port) };
}
