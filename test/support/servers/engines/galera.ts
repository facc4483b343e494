import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConnectionOptions } from 'mysql2/promise';
import { freePort } from '../../free-port';
import { MariadbServer, mariadbTemplate } from '../mariadb';
import { guarded } from '../private-server';
import { run } from '../services';
import { requireTool } from '../../tools';
import { until } from '../../until';
import { LOCAL, type NetworkHost, type PrivateNetwork } from './private-network';

const NODES = 3;
const JOIN_LIMIT_MS = 180_000;
/** State transfers by rsync fail as root. */
const ACCOUNT = 'mysql';

export interface GaleraOptions {
  /** Its hosts get a node each; left out: all nodes are on this host. */
  readonly network?: PrivateNetwork;
  /** Added to the command line of each node. */
  readonly words?: readonly string[];
  /** Added to `wsrep_provider_options`. */
  readonly provider?: readonly string[];
}

export class GaleraNode extends MariadbServer {
  /** Makes the cluster; the others, and whoever is started again, join it. */
  first = false;
  /** Its newest commit, as `galera_recovery` of the service finds it before each start. */
  private begin: string | undefined;

  constructor(
    override readonly host: string,
    ...[directory, program, options]: ConstructorParameters<typeof MariadbServer>
  ) {
    super(directory, program, options);
  }

  /** A node on another host has an account for this one only once the cluster is made. */
  protected override get admin(): Pick<ConnectionOptions, 'host' | 'port' | 'socketPath'> {
    return { socketPath: this.socket };
  }

  protected override command(): string[] {
    return [
      ...super.command().filter((word) => word !== '--user=root'),
      ...(this.first ? ['--wsrep-new-cluster'] : []),
      ...(this.begin === undefined ? [] : [`--wsrep-start-position=${this.begin}`]),
    ];
  }

  async isSynced(nodes = NODES): Promise<boolean> {
    const status = await this.query(
      "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_local_state_comment')",
    );
    const values = status.map((row) => String(row.Value));
    return values.includes(String(nodes)) && values.includes('Synced');
  }

  async status(name: string): Promise<string> {
    const [row] = await this.query(`SHOW GLOBAL STATUS LIKE '${name}'`);
    return String(row?.Value);
  }

  /** The number of the newest commit in the data of a node that was killed. */
  async position(): Promise<number> {
    return Number((await this.recovered()).split(':')[1]);
  }

  /** As the service does: the node tells the others what it has. */
  override async restart(): Promise<void> {
    await this.kill();
    this.begin = await this.recovered();
    await super.restart();
    this.begin = undefined;
  }

  /** Makes a new cluster of the data of this node, as an administrator does who overrules `safe_to_bootstrap`. */
  async bootstrap(): Promise<void> {
    await this.kill();
    const file = join(this.dataDirectory, 'grastate.dat');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('safe_to_bootstrap: 0', 'safe_to_bootstrap: 1'));
    // With commits of the cluster before it, other nodes cannot join.
    await rm(join(this.dataDirectory, 'galera.cache'), { force: true });
    this.first = true;
    await this.restart();
    this.first = false;
  }

  /** Starts the killed node again without what it remembers of its cluster: it takes all data from the others. */
  async rejoin(): Promise<void> {
    await this.kill();
    for (const name of ['grastate.dat', 'gvwstate.dat', 'galera.cache'])
      await rm(join(this.dataDirectory, name), { force: true });
    await super.restart();
  }

  private async recovered(): Promise<string> {
    const [program, ...words] = [...this.command(), '--wsrep-recover'];
    const { stdout, stderr } = await run(program, words, { cwd: this.directory });
    const found = [...(stdout + stderr).matchAll(/Recovered position: (\S+)/g)].at(-1)?.[1];
    if (found === undefined) throw new Error(`No position in ${stderr.slice(-2000)}`);
    return found;
  }
}

/** A Galera cluster of three MariaDB nodes; every node accepts writes. */
export class GaleraCluster {
  private constructor(readonly nodes: readonly GaleraNode[]) {}

  static async start(options: GaleraOptions = {}): Promise<GaleraCluster> {
    await requireTool('rsync');
    const hosts = options.network?.hosts ?? Array.from({ length: NODES }, () => LOCAL);
    const places = await Promise.all(hosts.map(async (host) => ({ ...host, port: await freePort() })));
    const cluster = new GaleraCluster(await Promise.all(places.map((place) => makeNode(place, places, options))));
    try {
      for (const [index, node] of cluster.nodes.entries()) {
        node.first = index === 0;
        await node.start();
        node.first = false;
        if (index === 0) await node.query("CREATE USER root@'%'; GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION");
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
    for (const node of this.nodes) await until('nodes that are synced', () => node.isSynced(), JOIN_LIMIT_MS);
  }

  /** @returns the URL of the database on each node */
  async createDatabase(): Promise<string[]> {
    const url = new URL((await this.nodes[0]?.createDatabase()) ?? '');
    const name = url.pathname.slice(1);
    // A node may be behind the one that made it.
    for (const node of this.nodes) {
      await until('database', async () => (await node.query(`SHOW DATABASES LIKE '${name}'`)).length > 0);
    }
    return this.nodes.map(({ host, port }) => `mysql://root@${host}:${port}${url.pathname}`);
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) await node.stop();
  }
}

interface Place extends NetworkHost {
  readonly port: number;
}

async function makeNode(
  { address, words, port }: Place,
  all: readonly Place[],
  options: GaleraOptions,
): Promise<GaleraNode> {
  const { directory, program } = await mariadbTemplate(ACCOUNT);
  await run('chown', [ACCOUNT, join(directory, 'tmp')]);
  const library = await requireTool('libgalera_smm.so');
  const [transfer, increments] = [await freePort(), await freePort()];
  const providerOptions = [
    `gmcast.listen_addr=tcp://${address}:${port}`,
    `ist.recv_addr=${address}:${increments}`,
    'gcache.size=8M',
    ...(options.provider ?? []),
  ];
  return new GaleraNode(
    address,
    directory,
    [...words, ...(await guarded([program], ACCOUNT))],
    [
      '--binlog-format=ROW',
      '--innodb-autoinc-lock-mode=2',
      '--wsrep-on=ON',
      `--wsrep-provider=${library}`,
      '--wsrep-cluster-name=leaf',
      `--wsrep-cluster-address=gcomm://${all.map((each) => `${each.address}:${each.port}`).join(',')}`,
      `--wsrep-node-address=${address}:${port}`,
      '--wsrep-sst-method=rsync',
      `--wsrep-sst-receive-address=${address}:${transfer}`,
      `--wsrep-provider-options=${providerOptions.join(';')}`,
      ...(options.words ?? []),
    ],
  );
}
