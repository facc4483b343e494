import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClusterAnswer, ClusterServer } from '../../../apps/leaf-server/src/fleet/views';
import { freePort } from '../free-port';
import { json } from '../http/http';
import { until } from '../until';
import { changeWorkers, makeDataDirectory, removeDataDirectory } from './data-directory';
import { startTestServer, type TestServer } from './server';

export const CLUSTER_TOKEN = 'cluster-token-0123456789';
const HOUR_MS = 3_600_000;

/** Servers of one cluster in this process, on one database file with its registry, and programs at their addresses. */
export class ClusterRig {
  readonly servers: TestServer[] = [];
  private readonly listeners: Server[] = [];
  private records = 0;

  private constructor(readonly directory: string) {}

  static async create(): Promise<ClusterRig> {
    return new ClusterRig(await makeDataDirectory());
  }

  async start(env: NodeJS.ProcessEnv = {}): Promise<TestServer> {
    const server = await startTestServer({
      LEAF_PORT: String(await freePort()),
      LEAF_NAME: `server-${this.servers.length}`,
      LEAF_DATA_DIR: this.directory,
      LEAF_ADVERTISE_HOST: '127.0.0.1',
      LEAF_DATABASE_URL: `sqlite:${this.directory}/leaf.sqlite`,
      LEAF_SNOWFLAKE_REGISTRY: 'database',
      LEAF_CLUSTER_TOKEN: CLUSTER_TOKEN,
      ...env,
    });
    this.servers.push(server);
    return server;
  }

  /** Starts a program that is not Leaf; returns its port. */
  async listen(respond: RequestListener, port?: number): Promise<number> {
    const listener = createServer(respond);
    this.listeners.push(listener);
    listener.listen(port ?? (await freePort()), '127.0.0.1');
    await once(listener, 'listening');
    return (listener.address() as AddressInfo).port;
  }

  /** Adds servers to the registry. */
  register(...instances: string[]): void {
    const end = Date.now() + HOUR_MS;
    const rows = instances.map((instance) => {
      this.records++;
      return `(${1000 - this.records}, '${instance}', ${end}, 'lease-${this.records}.1')`;
    });
    const columns = 'id, ip_port, max_timestamp, lease_id';
    changeWorkers(this.directory, `INSERT INTO leaf_worker_pool (${columns}) VALUES ${rows.join(', ')}`);
  }

  cluster({ port }: TestServer): Promise<ClusterAnswer> {
    return json(port, '/api/cluster');
  }

  /** The server on `port`, once `by` sees it in this state. */
  seen(by: TestServer, port: number, state: ClusterServer['state']): Promise<ClusterServer> {
    return until(`${state} of ${port}`, async () => {
      const { servers } = await this.cluster(by);
      return servers.find((one) => one.instance === `127.0.0.1:${port}` && one.state === state);
    });
  }

  async end(): Promise<void> {
    for (const listener of this.listeners) {
      listener.closeAllConnections();
      listener.close();
    }
    await Promise.all(this.servers.map((server) => server.stop()));
    await removeDataDirectory(this.directory);
  }
}
