import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { SteppedClock } from '../../support/servers/faketime';
import { startMariadbPair } from '../../support/servers/mariadb-pair';
import { guarded } from '../../support/servers/private-server';
import { SeededRandom } from '../../support/seeded-random';
import { faultsOf, type Run } from './overlaps';

export interface WindowsOptions {
  readonly clients: number;
  readonly minutes: number;
  readonly seed: number;
  readonly serverFile: string;
  /** Path of `client.mjs`. */
  readonly clientFile: string;
}

export interface WindowsOutcome {
  readonly ids: number;
  readonly leases: number;
  readonly workers: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly duplicates: readonly string[];
}

const SERVERS = 3;
const TOKEN = 'worker-token-0123456789';
const BATCH = { size: 1500, pauseMs: 50 };
const KINDS = [
  'client stopped',
  'client clock',
  'client restarted',
  'server killed',
  'server stopped',
  'partition',
] as const;

interface Client {
  process: ChildProcess;
  readonly clock: SteppedClock;
}

interface Server {
  readonly env: NodeJS.ProcessEnv;
  readonly proxy: TcpProxy;
  process: BuiltServer;
}

/** Client processes with worker windows, three servers of one database, and faults on all of them. */
export async function runWindows(options: WindowsOptions): Promise<WindowsOutcome> {
  const opened: (() => Promise<unknown>)[] = [];
  try {
    return await new WindowsRun(options, opened).play();
  } finally {
    for (const close of opened.reverse()) await close();
  }
}

class WindowsRun {
  private readonly runs: Run[] = [];
  private readonly counts: Record<string, number> = {};
  private ports: readonly number[] = [];
  private readonly random: SeededRandom;

  constructor(
    private readonly options: WindowsOptions,
    private readonly opened: (() => Promise<unknown>)[],
  ) {
    this.random = new SeededRandom(options.seed);
  }

  async play(): Promise<WindowsOutcome> {
    const { options, opened, runs } = this;
    const pair = await startMariadbPair({ semiSync: true });
    opened.push(() => pair.stop());
    const fleet = new BuiltServers(await guarded([process.execPath, options.serverFile]));
    opened.push(() => fleet.end());
    const url = await pair.primary.createOwnedDatabase();
    const servers: Server[] = [];
    for (let n = 0; n < SERVERS; n++) servers.push(await this.startServer(fleet, url));
    const clients: Client[] = [];
    opened.push(() => {
      for (const client of clients) client.process.kill('SIGKILL');
      return Promise.resolve();
    });
    const directory = await fleet.makeDirectory();
    this.ports = servers.map(({ proxy }) => proxy.port);
    for (let n = 0; n < options.clients; n++) clients.push(await this.startClient(join(directory, String(n))));
    const end = performance.now() + options.minutes * 60_000;
    const faults: Promise<void>[] = [];
    while (performance.now() < end) {
      faults.push(this.fault(fleet, servers, clients));
      await sleep(this.random.spread(200, 3000));
    }
    await Promise.all(faults);
    await Promise.all(clients.map((client) => this.end(client)));
    return {
      ids: runs.reduce((sum, { count }) => sum + count, 0),
      leases: new Set(runs.map(({ lease }) => lease)).size,
      workers: new Set(runs.map(({ workerId }) => workerId)).size,
      faults: this.counts,
      duplicates: faultsOf(runs),
    };
  }

  private async startServer(fleet: BuiltServers, url: string): Promise<Server> {
    const port = await freePort();
    const env = {
      LEAF_PORT: String(port),
      LEAF_DATABASE_URL: url,
      LEAF_SNOWFLAKE_REGISTRY: 'database',
      LEAF_SNOWFLAKE_LEASE_TTL_MS: '30000',
      LEAF_SNOWFLAKE_REPORT_MS: '1000',
      LEAF_WORKER_TOKENS: TOKEN,
    };
    const process = await fleet.start(await fleet.makeDirectory(), env);
    const proxy = await TcpProxy.start(port);
    this.opened.push(() => proxy.stop());
    return { env, process, proxy };
  }

  private async startClient(directory: string): Promise<Client> {
    await mkdir(directory, { recursive: true });
    const clock = await SteppedClock.create(directory);
    return { process: this.spawnClient(clock), clock };
  }

  private spawnClient(clock: SteppedClock): ChildProcess {
    const args = [this.options.clientFile, this.ports.join(','), TOKEN, String(BATCH.size), String(BATCH.pauseMs)];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, ...clock.env },
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.runs.push(JSON.parse(line) as Run));
    return child;
  }

  private async fault(fleet: BuiltServers, servers: readonly Server[], clients: readonly Client[]): Promise<void> {
    const { random } = this;
    const kind = KINDS[random.below(KINDS.length)]!;
    const server = servers[random.below(servers.length)]!;
    const client = clients[random.below(clients.length)]!;
    const { process: child, clock } = client;
    // A window lasts 10 s, and its worker ID is free for others 30 s later.
    const longestMs = Math.min(60_000, Math.max(12_000, this.options.minutes * 10_000));
    const ms = random.spread(500, kind === 'client stopped' ? longestMs : 12_000);
    const stepMs = random.spread(10, 60_000) * (random.chance(0.5) ? 1 : -1);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    switch (kind) {
      case 'client stopped':
        child.kill('SIGSTOP');
        await sleep(ms);
        child.kill('SIGCONT');
        break;
      case 'client clock':
        await clock.set(Math.round(stepMs));
        await sleep(ms);
        await clock.set(0);
        break;
      case 'client restarted':
        await this.end(client);
        client.process = this.spawnClient(client.clock);
        break;
      case 'server killed':
        if (!server.process.running) return;
        await server.process.kill();
        server.process = fleet.spawn(server.process.directory, server.env);
        break;
      case 'server stopped':
        server.process.signal('SIGSTOP');
        await sleep(ms);
        server.process.signal('SIGCONT');
        break;
      case 'partition':
        server.proxy.blackhole(random.chance(0.5) ? 'all' : 'answers');
        await sleep(ms);
        server.proxy.heal();
        break;
    }
  }

  private async end({ process: child, clock }: Client): Promise<void> {
    if (child.exitCode !== null) return;
    await clock.set(0);
    child.kill('SIGCONT');
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  }
}
