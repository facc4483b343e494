import { join } from 'node:path';
import { freePort } from '../../free-port';
import { MariadbServer, mariadbTemplate } from '../mariadb';
import { guarded } from '../private-server';
import { run } from '../services';
import { requireTool } from '../../tools';
import { until } from '../../until';

const NODES = 3;
/** State transfers by rsync fail as root. */
const ACCOUNT = 'mysql';

class GaleraNode extends MariadbServer {
  /** Makes the cluster; the others, and whoever is started again, join it. */
  first = false;

  protected override command(): string[] {
    return [
      ...super.command().filter((word) => word !== '--user=root'),
      ...(this.first ? ['--wsrep-new-cluster'] : []),
    ];
  }

  async isSynced(): Promise<boolean> {
    const status = await this.query(
      "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_local_state_comment')",
    );
    const values = status.map((row) => String(row.Value));
    return values.includes(String(NODES)) && values.includes('Synced');
  }
}

/** A Galera cluster of three MariaDB nodes; every node accepts writes. */
export class GaleraCluster {
  private constructor(readonly nodes: readonly GaleraNode[]) {}

  static async start(): Promise<GaleraCluster> {
    await requireTool('rsync');
    const provider = await requireTool('libgalera_smm.so');
    const ports = await Promise.all(Array.from({ length: NODES }, freePort));
    const cluster = new GaleraCluster(await Promise.all(ports.map((port) => makeNode(provider, ports, port))));
    try {
      for (const [index, node] of cluster.nodes.entries()) {
        node.first = index === 0;
        await node.start();
        node.first = false;
      }
      await cluster.complete();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Resolves when every node is in the cluster and synced. */
  async complete(): Promise<void> {
    for (const node of this.nodes) await until('nodes that are synced', () => node.isSynced());
  }

  /** @returns the URL of the database on each node */
  async createDatabase(): Promise<string[]> {
    const url = (await this.nodes[0]?.createDatabase()) ?? '';
    return this.nodes.map(({ port }) => url.replace(/:\d+\//, `:${port}/`));
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) await node.stop();
  }
}

async function makeNode(provider: string, ports: readonly number[], port: number): Promise<GaleraNode> {
  const { directory, program } = await mariadbTemplate(ACCOUNT);
  await run('chown', [ACCOUNT, join(directory, 'tmp')]);
  const [transfer, increments] = [await freePort(), await freePort()];
  const providerOptions = [
    `gmcast.listen_addr=tcp://127.0.0.1:${port}`,
    `ist.recv_addr=127.0.0.1:${increments}`,
    'gcache.size=8M',
  ];
  return new GaleraNode(directory, await guarded([program], ACCOUNT), [
    '--binlog-format=ROW',
    '--innodb-autoinc-lock-mode=2',
    '--wsrep-on=ON',
    `--wsrep-provider=${provider}`,
    '--wsrep-cluster-name=leaf',
    `--wsrep-cluster-address=gcomm://${ports.map((each) => `127.0.0.1:${each}`).join(',')}`,
    `--wsrep-node-address=127.0.0.1:${port}`,
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${transfer}`,
    `--wsrep-provider-options=${providerOptions.join(';')}`,
  ]);
}
