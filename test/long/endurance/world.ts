import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from '../chaos/load/http-ask';
import { closeEdges, type Edges, openEdges } from '../chaos/world/edges';
import { ADMIN_TOKEN } from '../../support/http/admin';
import { freePort } from '../../support/free-port';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { until } from '../../support/until';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';
import { Subject } from './subject/subject';

export const TAG = 'endurance';
/** Every request of so many IDs takes a segment of its own. */
export const STEP = 100;

const REGISTRIES = ['zk_normal', 'zk_recycle', 'mysql'] as const;
const HOST = '127.0.0.1';
const READY_LIMIT_MS = 120_000;
const ASK_LIMIT_MS = 2000;

const COMMON = {
  LEAF_HOST: HOST,
  LEAF_ADVERTISE_HOST: HOST,
  LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
  LEAF_SEGMENT_MAX_STEP: String(STEP),
  LEAF_SEGMENT_REFRESH_MS: '1000',
  LEAF_SNOWFLAKE_REPORT_MS: '1000',
  // Not a matter here, on a machine that others use.
  LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '0',
  LEAF_MAX_LAG_MS: '60000',
  LEAF_LOG_FORMAT: 'json',
};

export interface Server {
  readonly subject: Subject;
  readonly edges: Edges;
}

/** Three servers with all that they stand on, a proxy on each connection, and an application that is their client. */
export class EnduranceWorld {
  readonly servers: Server[] = [];
  client: Subject | undefined;

  private constructor(
    private readonly root: string,
    private readonly folder: string,
    private readonly directory: string,
    private readonly mariadb: MariadbServer,
    private readonly zookeeper: ZookeeperServer,
  ) {}

  /** @param root the checkout, built; @param folder for logs */
  static async start(root: string, folder: string): Promise<EnduranceWorld> {
    await mkdir(folder, { recursive: true });
    await requireZookeeperClient();
    const directory = await mkdtemp(join(tmpdir(), 'leaf-endurance-'));
    const [mariadb, zookeeper] = await Promise.all([startMariadb(), startZookeeper()]);
    const world = new EnduranceWorld(root, folder, directory, mariadb, zookeeper);
    try {
      await world.begin();
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  get subjects(): Subject[] {
    return [...this.servers.map(({ subject }) => subject), ...(this.client === undefined ? [] : [this.client])];
  }

  /** Resolves when every server says of all its parts that they are well. */
  async well(): Promise<void> {
    for (const { subject, edges } of this.servers) {
      let last = '';
      const look = async (): Promise<boolean> => {
        const path = '/api/monitor/overview';
        const reply = await ask({ port: edges.client.port, path, limitMs: ASK_LIMIT_MS });
        if ('fault' in reply || reply.status !== 200) return false;
        const { ready, parts } = JSON.parse(reply.body) as { ready: boolean; parts: { status: string }[] };
        last = reply.body;
        return ready && parts.every(({ status }) => status === 'up' || status === 'off');
      };
      await until(`${subject.name} well`, look, READY_LIMIT_MS).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${last}`, { cause: error });
      });
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.subjects.map((subject) => subject.stop()));
    await Promise.all(this.servers.map(({ edges }) => closeEdges(edges)));
    await Promise.all([this.mariadb.stop(), this.zookeeper.stop()]);
    await rm(this.directory, { recursive: true, force: true });
  }

  private async begin(): Promise<void> {
    const url = new URL(await this.mariadb.createDatabase());
    for (const registry of REGISTRIES) {
      await this.addServer(registry, url);
      // The first one makes the tables.
      await this.well();
    }
    const row = `('${TAG}', 1, ${STEP})`;
    await this.mariadb.query(`INSERT INTO ${url.pathname.slice(1)}.leaf_alloc (biz_tag, max_id, step) VALUES ${row}`);
    const library = join(this.root, 'dist/libs/client/src/index.js');
    const addresses = this.servers.map(({ edges }) => `http://${HOST}:${edges.client.port}`);
    const program = [join(this.root, 'test/long/endurance/subject/client-app.cjs'), library, ...addresses];
    this.client = await Subject.start({ name: 'client', program, env: {}, folder: this.folder }, this.root);
  }

  private async addServer(registry: string, database: URL): Promise<void> {
    const port = await freePort();
    const edges = await openEdges(HOST, port, this.mariadb.port, registry === 'mysql' ? [] : [this.zookeeper.port]);
    const data = join(this.directory, registry);
    await mkdir(data);
    const env = {
      ...COMMON,
      // One place takes one strategy.
      LEAF_NAME: `endurance-${registry}`,
      LEAF_PORT: String(port),
      LEAF_ADVERTISE_PORT: String(edges.client.port),
      LEAF_DATA_DIR: data,
      LEAF_DATABASE_URL: `mysql://root@${HOST}:${edges.database.port}${database.pathname}`,
      LEAF_SNOWFLAKE_REGISTRY: registry,
      LEAF_SNOWFLAKE_OFFLINE: 'local_file',
      ...(edges.coordinator.length > 0 && {
        LEAF_ZOOKEEPER: edges.coordinator.map((proxy) => `${HOST}:${proxy.port}`).join(','),
      }),
    };
    const program = [join(this.root, 'dist/apps/leaf-server/src/main.js')];
    const subject = await Subject.start({ name: registry, program, env, folder: this.folder }, this.root);
    subject.output.resume();
    this.servers.push({ subject, edges });
  }
}
