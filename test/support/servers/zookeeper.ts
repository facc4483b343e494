import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { freePorts } from '../free-port';
import { copyOfTemplate, guarded, PrivateServer } from './private-server';
import { exists } from './services';
import { requireTool } from '../tools';
import { until } from '../until';

const TICK_MS = 500;
const ANSWER_LIMIT_MS = 2000;
const ENSEMBLE_ATTEMPTS = 3;
const ELECTION_LIMIT_MS = 60_000;

/** Sessions of the servers can be this short. */
export const SHORTEST_SESSION_MS = 2 * TICK_MS;

type Mode = 'standalone' | 'leader' | 'follower';

/** Its place in an ensemble, and the lines of the configuration that describe all places. */
interface Membership {
  readonly id: number;
  readonly lines: readonly string[];
}

export class ZookeeperServer extends PrivateServer {
  constructor(
    directory: string,
    private readonly program: readonly string[],
    private readonly membership: Membership | undefined,
  ) {
    super(directory);
  }

  get hosts(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** What a database is here: a root of one's own. Nothing of it exists yet. */
  createDatabase(): Promise<string> {
    return Promise.resolve(`${this.hosts}${makeChroot()}`);
  }

  /** Takes its data away, as a lost disk does, and starts it again. */
  async empty(): Promise<void> {
    await this.kill();
    await rm(join(this.dataDirectory, 'version-2'), { recursive: true });
    await this.restart();
  }

  /** Undefined while it serves nobody. */
  async mode(): Promise<Mode | undefined> {
    const answer = await ask(this.port, 'srvr').catch(() => '');
    return /^Mode: (\w+)$/m.exec(answer)?.[1] as Mode | undefined;
  }

  protected override command(): string[] {
    return [...this.program, 'org.apache.zookeeper.server.quorum.QuorumPeerMain', this.configuration];
  }

  protected override async configure(): Promise<void> {
    const own = [`clientPort=${this.port}`, 'clientPortAddress=127.0.0.1'];
    const lines = [
      `tickTime=${TICK_MS}`,
      `dataDir=${this.dataDirectory}`,
      'initLimit=10',
      'syncLimit=4',
      `minSessionTimeout=${SHORTEST_SESSION_MS}`,
      'maxSessionTimeout=60000',
      'maxClientCnxns=0',
      'admin.enableServer=false',
      '4lw.commands.whitelist=srvr,conf',
      ...(this.membership?.lines ?? own),
    ];
    await writeFile(this.configuration, lines.join('\n'));
    if (this.membership !== undefined) await writeFile(join(this.dataDirectory, 'myid'), String(this.membership.id));
  }

  /** Of one that serves: while an ensemble has no leader, its servers answer no question. */
  protected override async askDataDirectory(): Promise<string> {
    if ((await this.mode()) === undefined) throw new Error('not serving');
    const answer = await ask(this.port, 'conf');
    return dirname(/^dataDir=(.*)$/m.exec(answer)?.[1] ?? '');
  }

  private get configuration(): string {
    return join(this.directory, 'zoo.cfg');
  }
}

export class ZookeeperEnsemble {
  constructor(readonly servers: readonly ZookeeperServer[]) {}

  get hosts(): string {
    return this.servers.map((server) => server.hosts).join(',');
  }

  createDatabase(): Promise<string> {
    return Promise.resolve(`${this.hosts}${makeChroot()}`);
  }

  /** Waits until there is one. */
  leader(): Promise<ZookeeperServer> {
    const look = async (): Promise<ZookeeperServer | undefined> => {
      const modes = await Promise.all(this.servers.map((server) => server.mode()));
      return this.servers[modes.indexOf('leader')];
    };
    return until('a leader', look, ELECTION_LIMIT_MS);
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

export async function startZookeeper(): Promise<ZookeeperServer> {
  const server = await makeServer(undefined);
  await server.start();
  return server;
}

/** Its servers have to know all ports beforehand: when one of them is taken meanwhile, all are chosen anew. */
export async function startEnsemble(size: number): Promise<ZookeeperEnsemble> {
  for (let attempt = 1; ; attempt++) {
    const ports = await freePorts(3 * size);
    const clientPorts = ports.slice(0, size);
    const lines = clientPorts.map(
      (port, n) => `server.${n + 1}=127.0.0.1:${ports[size + n]}:${ports[2 * size + n]};127.0.0.1:${port}`,
    );
    const servers = await Promise.all(clientPorts.map((_, n) => makeServer({ id: n + 1, lines })));
    const started = await Promise.allSettled(servers.map((server, n) => server.start(clientPorts[n])));
    const ensemble = new ZookeeperEnsemble(servers);
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) return ensemble;
    await ensemble.stop();
    if (attempt === ENSEMBLE_ATTEMPTS) throw failed.reason;
  }
}

async function makeServer(membership: Membership | undefined): Promise<ZookeeperServer> {
  const jar = await requireTool('zookeeper.jar');
  const java = await requireTool('java');
  const logger = join(dirname(jar), 'slf4j-simple.jar');
  const classes = (await exists(logger)) ? `${jar}:${logger}` : jar;
  const directory = await copyOfTemplate('zookeeper', undefined, (data) => mkdir(data));
  const options = ['-Xms32m', '-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const program = await guarded([java, ...options, '-cp', classes]);
  return new ZookeeperServer(directory, program, membership);
}

function makeChroot(): string {
  return `/leaf_${randomBytes(6).toString('hex')}`;
}

/** One of the words that a server answers without a session. */
function ask(port: number, word: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error(`no answer to ${word}`)));
    socket.on('connect', () => socket.write(word));
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
