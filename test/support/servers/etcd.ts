import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SystemClock } from '@leaf-ids/core';
import { HttpEndpoint, type TlsCertificates } from '@leaf-ids/core/internal';
import { freePorts } from '../free-port';
import { requireTool } from '../tools';
import { until } from '../until';
import { copyOfTemplate, guarded, PrivateServer } from './private-server';
import { run } from './services';

const START_ATTEMPTS = 3;
const TOKEN = 'leaf';
const ETCDCTL = { ...process.env, ETCDCTL_API: '3' };
const LEADER_LIMIT_MS = 60_000;
const ANSWER_LIMIT_MS = 2000;

/** The members of a cluster, as each of them is told at its first start. */
interface Membership {
  readonly name: string;
  readonly peerPort: number;
  /** `name=url,name=url`. */
  readonly all: string;
}

export class EtcdServer extends PrivateServer {
  constructor(
    directory: string,
    private readonly program: readonly string[],
    private readonly membership: Membership,
  ) {
    super(directory);
  }

  get endpoint(): string {
    const scheme = this.program.includes('--cert-file') ? 'https' : 'http';
    return `${scheme}://127.0.0.1:${this.port}`;
  }

  /** What a database is here: a name of the service, below which there are no keys yet. */
  createDatabase(): Promise<string> {
    return Promise.resolve(`leaf_${randomBytes(6).toString('hex')}`);
  }

  /** Calls the JSON gateway. */
  async post(path: string, body: object): Promise<Record<string, unknown>> {
    return (await this.ask('POST', path, JSON.stringify(body))) as Record<string, unknown>;
  }

  /** Deletes a key, or all keys below a prefix that ends with a slash, as an operator could, while servers run. */
  async deleteKeys(name: string): Promise<void> {
    const [key, end] = [name, `${name.slice(0, -1)}0`].map((text) => Buffer.from(text).toString('base64'));
    await this.post('/v3/kv/deleterange', { key, ...(name.endsWith('/') && { range_end: end }) });
  }

  /** Takes its data away, as a lost disk does, and starts it again. */
  async empty(): Promise<void> {
    await this.kill();
    await rm(join(this.dataDirectory, 'member'), { recursive: true });
    await this.restart();
  }

  /** Saves a snapshot in a file. */
  async saveSnapshot(): Promise<string> {
    const file = join(this.directory, `snapshot-${randomBytes(4).toString('hex')}`);
    await run(await requireTool('etcdctl'), ['--endpoints', this.endpoint, 'snapshot', 'save', file], { env: ETCDCTL });
    return file;
  }

  /** Replaces the data with a snapshot and starts the server again. */
  async restore(snapshot: string): Promise<void> {
    const { name, all } = this.membership;
    await this.kill();
    await rm(this.dataDirectory, { recursive: true });
    // With the token of the lost cluster, so that the restored one has the same ID.
    const urls = ['--initial-cluster', all, '--initial-cluster-token', TOKEN, ...this.peerFlags];
    const words = ['snapshot', 'restore', snapshot, '--data-dir', this.dataDirectory, '--name', name, ...urls];
    await run(await requireTool('etcdctl'), words, { env: ETCDCTL });
    await this.restart();
  }

  /** Stops the server; the result returns its data to what they are now, and starts it. */
  async copyData(): Promise<() => Promise<void>> {
    await this.kill();
    const copy = join(this.directory, `copy-${randomBytes(4).toString('hex')}`);
    await run('cp', ['-a', this.dataDirectory, copy]);
    return async () => {
      await this.kill();
      await rm(this.dataDirectory, { recursive: true });
      await run('cp', ['-a', copy, this.dataDirectory]);
      await this.restart();
    };
  }

  protected override command(): string[] {
    const { name, all } = this.membership;
    return [
      ...[...this.program, '--name', name, '--data-dir', this.dataDirectory],
      ...['--listen-client-urls', this.endpoint, '--advertise-client-urls', this.endpoint],
      ...['--listen-peer-urls', this.peerUrl, ...this.peerFlags],
      ...['--initial-cluster', all, '--initial-cluster-token', TOKEN],
      // Slow disks of test machines must not cause elections.
      ...['--heartbeat-interval', '100', '--election-timeout', '1000', '--unsafe-no-fsync'],
    ];
  }

  /** The arguments of the program that answers. */
  protected override async askDataDirectory(): Promise<string> {
    const { cmdline } = (await this.ask('GET', '/debug/vars')) as { readonly cmdline: readonly string[] };
    return cmdline[cmdline.indexOf('--data-dir') + 1] ?? '';
  }

  private async ask(method: string, path: string, body?: string): Promise<unknown> {
    const { status, text } = await this.http.request({ method, path, ...(body && { body }) }, ANSWER_LIMIT_MS);
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  }

  private get http(): HttpEndpoint {
    const fileOf = (flag: string): string => this.program[this.program.indexOf(flag) + 1] ?? '';
    const certificates = async (): Promise<TlsCertificates> => ({
      ca: await readFile(fileOf('--trusted-ca-file'), 'utf8'),
      cert: await readFile(fileOf('--cert-file'), 'utf8'),
      key: await readFile(fileOf('--key-file'), 'utf8'),
    });
    const options = { maxBytes: 1_000_000, keepAliveMs: 1, certificates };
    return new HttpEndpoint(new URL(this.endpoint), options, new SystemClock());
  }

  private get peerFlags(): string[] {
    return ['--initial-advertise-peer-urls', this.peerUrl];
  }

  private get peerUrl(): string {
    return `http://127.0.0.1:${this.membership.peerPort}`;
  }
}

export class EtcdCluster {
  constructor(readonly servers: readonly EtcdServer[]) {}

  get endpoints(): string {
    return this.servers.map((server) => server.endpoint).join(',');
  }

  /** Waits until a member of `among` says which one leads, and that it is one of them. */
  leader(among = this.servers): Promise<EtcdServer> {
    const look = async (): Promise<EtcdServer | undefined> => {
      for (const server of among) {
        const { leader, header } = await server.post('/v3/maintenance/status', {}).catch(() => ({}) as never);
        if (leader !== undefined && leader === (header as { member_id: string }).member_id) return server;
      }
      return undefined;
    };
    return until('a leader', look, LEADER_LIMIT_MS);
  }

  /** Saves a snapshot; the result stops all members, replaces their data with the snapshot and starts them again. */
  async backUp(): Promise<() => Promise<void>> {
    const snapshot = await (await this.leader()).saveSnapshot();
    return async () => {
      await Promise.all(this.servers.map((server) => server.kill()));
      await Promise.all(this.servers.map((server) => server.restore(snapshot)));
      await this.leader();
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

export async function startEtcd(flags: readonly string[] = []): Promise<EtcdServer> {
  const { servers } = await startCluster(1, flags);
  return servers[0] as EtcdServer;
}

/** Its members have to know all ports beforehand: when one of them is taken meanwhile, all are chosen anew. */
export async function startCluster(size: number, flags: readonly string[] = []): Promise<EtcdCluster> {
  const program = await guarded([await requireTool('etcd')]);
  for (let attempt = 1; ; attempt++) {
    const ports = await freePorts(2 * size);
    const peers = ports.slice(size);
    const all = peers.map((port, n) => `m${n}=http://127.0.0.1:${port}`).join(',');
    const servers = await Promise.all(
      peers.map(async (peerPort, n) => {
        const directory = await copyOfTemplate('etcd', undefined, (data) => mkdir(data, { mode: 0o700 }));
        return new EtcdServer(directory, [...program, ...flags], { name: `m${n}`, peerPort, all });
      }),
    );
    const started = await Promise.allSettled(servers.map((server, n) => server.start(ports[n])));
    const cluster = new EtcdCluster(servers);
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) {
      await cluster.leader();
      return cluster;
    }
    await cluster.stop();
    if (attempt === START_ATTEMPTS) throw failed.reason;
  }
}
