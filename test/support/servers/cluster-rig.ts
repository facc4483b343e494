import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { ClusterTokens } from '../../../apps/leaf-server/src/tokens/cluster-tokens';
import type { ClusterAnswer, ClusterServer } from '../../../apps/leaf-server/src/cluster/views';
import { freePort } from '../free-port';
import { json } from '../http/http';
import { until } from '../until';
import { addWorkers, makeDataDirectory, removeDataDirectory } from './data-directory';
import { startTestServer, type TestServer } from './server';

export const CLUSTER_TOKEN = 'cluster-token-0123456789';
const HOUR_MS = 3_600_000;

/**
 * `Authorization` of a request that another server of the cluster sends to `server`.
 *
 * @param by who gave the command
 */
export function signedFor(server: string, method: string, path: string, by?: string): string {
  const tokens = new ClusterTokens([{ name: 'cluster', token: CLUSTER_TOKEN }], 'test', new SystemClock());
  return `Bearer ${tokens.sign(server, { method, path }, by)}`;
}

/** Servers of one cluster in this process, on one database file with its registry, and programs at their addresses. */
export class ClusterRig {
  readonly servers: TestServer[] = [];
  private readonly listeners: Server[] = [];

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
  async register(...instances: string[]): Promise<void> {
    const ceiling = Date.now() + HOUR_MS;
    const rows = instances.map((instance) => ({ instance, ceiling, lease: `${randomUUID()}.1` }));
    await addWorkers(this.directory, rows);
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
