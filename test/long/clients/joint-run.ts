import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { SeededRandom } from '../../support/seeded-random';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { startMariadb } from '../../support/servers/mariadb';
import { guarded } from '../../support/servers/private-server';
import { checkTraces, type TraceCheck } from '../../support/step-traces';
import { until } from '../../support/until';
import { IssuedRuns } from './checker';
import { Driver } from './driver';

export interface JointOptions {
  /** Commands of the drivers by client. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  /** Processes of each client. */
  readonly processes: number;
  readonly minutes: number;
  readonly seed: number;
  /** The built `main.js` of the servers. */
  readonly serverFile: string;
  readonly say: (line: string) => void;
}

export interface JointOutcome {
  readonly snowflakes: number;
  readonly segments: number;
  /** IDs by client. */
  readonly issued: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** Refused calls by code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Codes among them that are not of Leaf: a client must not let anything else through. */
  readonly unexpected: readonly string[];
  readonly duplicates: readonly string[];
  /** Whether the steps of servers and of clients in TypeScript are behaviours of the model. */
  readonly traces: TraceCheck;
}

const SERVERS = 3;
const TOKEN = 'worker-token-0123456789';
/** The shortest that a server accepts. */
const WINDOW_MS = 10_000;
/**
 * Worker IDs for each process. Few, so that one that is free soon belongs to another process; enough for those that the
 * windows of killed processes reserve, with three quarters of them for windows.
 */
const WORKERS_EACH = 2.25;
const TAG = 'leaf-segment-test';
/** IDs at a time, so that many processes share a machine. */
const SNOWFLAKES = { op: 'run', what: 'snowflake', ms: 300, limit: 20_000 };
const SEGMENTS = { op: 'run', what: 'segment', tag: TAG, ms: 300, limit: 4000 };
const PROGRESS_MS = 30_000;
const GRACE_LIMIT_MS = 120_000;

const KINDS = [
  'client stopped',
  'client clock',
  'client restarted',
  'client killed',
  'server killed',
  'server stopped',
  'all servers killed',
  'partition',
] as const;

interface Server {
  readonly env: NodeJS.ProcessEnv;
  readonly proxy: TcpProxy;
  process: BuiltServer;
}

/** Processes of clients in several languages on three servers of one database, and faults on all of them. */
export async function runJoint(options: JointOptions): Promise<JointOutcome> {
  const opened: (() => Promise<unknown>)[] = [];
  const steps = await mkdtemp(join(tmpdir(), 'leaf-steps-'));
  try {
    const outcome = await new JointRun(options, steps, opened).play().finally(async () => {
      for (const close of opened.reverse()) await close();
    });
    return { ...outcome, traces: await checkTraces(steps) };
  } finally {
    await rm(steps, { recursive: true, force: true });
  }
}

/** A client that is started again when it ends, and takes IDs until the run ends. */
class Seat {
  driver: Driver;
  issued = 0;

  constructor(
    readonly name: string,
    private readonly start: () => Driver,
  ) {
    this.driver = start();
  }

  restart(): void {
    this.driver = this.start();
  }
}

class JointRun {
  private readonly snowflakes = new IssuedRuns();
  private readonly segments = new IssuedRuns();
  private readonly faults: Record<string, number> = {};
  private readonly refused: Record<string, number> = {};
  private readonly random: SeededRandom;
  private readonly servers: Server[] = [];
  private readonly seats: Seat[] = [];
  private running = true;

  constructor(
    private readonly options: JointOptions,
    private readonly steps: string,
    private readonly opened: (() => Promise<unknown>)[],
  ) {
    this.random = new SeededRandom(options.seed);
  }

  async play(): Promise<Omit<JointOutcome, 'traces'>> {
    const { options, opened, seats, random } = this;
    const database = await startMariadb();
    opened.push(() => database.stop());
    const fleet = new BuiltServers(await guarded([process.execPath, options.serverFile]));
    opened.push(() => fleet.end());
    const url = await database.createDatabase();
    for (let n = 0; n < SERVERS; n++) this.servers.push(await this.startServer(fleet, url));
    opened.push(() => Promise.all(seats.map(({ driver }) => driver.kill())));
    for (const [client, command] of Object.entries(options.commands)) {
      for (let n = 0; n < options.processes; n++)
        seats.push(
          new Seat(`${client} ${n}`, () => new Driver(command, this.clientOptions(`${client}-${n}`), this.steps)),
        );
    }
    const callers = seats.map((seat) => this.take(seat));
    // A new registry gives no worker ID before one of the servers has run for the grace.
    await until('the first snowflake ID', () => this.snowflakes.count > 0, GRACE_LIMIT_MS);
    const end = performance.now() + options.minutes * 60_000;
    const faults: Promise<void>[] = [];
    let toldAt = performance.now();
    while (performance.now() < end) {
      faults.push(this.fault(fleet));
      await sleep(random.spread(200, 3000));
      if (performance.now() - toldAt < PROGRESS_MS) continue;
      toldAt = performance.now();
      options.say(
        `${this.snowflakes.count} snowflake IDs, ${this.segments.count} segment IDs, ${faults.length} faults`,
      );
    }
    await Promise.all(faults);
    this.running = false;
    await Promise.all(callers);
    await Promise.all(seats.map(({ driver }) => driver.close()));
    return this.outcome();
  }

  private outcome(): Omit<JointOutcome, 'traces'> {
    const issued: Record<string, number> = {};
    for (const { name, issued: count } of this.seats) {
      const [client = ''] = name.split(' ');
      issued[client] = (issued[client] ?? 0) + count;
    }
    return {
      snowflakes: this.snowflakes.count,
      segments: this.segments.count,
      issued,
      faults: this.faults,
      refused: this.refused,
      unexpected: Object.keys(this.refused).filter((code) => !code.startsWith('LEAF_')),
      duplicates: [...this.snowflakes.duplicates(), ...this.segments.duplicates()],
    };
  }

  private get seatCount(): number {
    return Object.keys(this.options.commands).length * this.options.processes;
  }

  private async startServer(fleet: BuiltServers, url: string): Promise<Server> {
    const env = {
      LEAF_PORT: String(await freePort()),
      LEAF_DATABASE_URL: url,
      LEAF_SNOWFLAKE_LEASE_TTL_MS: '30000',
      LEAF_SNOWFLAKE_REPORT_MS: '1000',
      LEAF_WORKER_TOKENS: TOKEN,
      LEAF_STEP_LOG: this.steps,
      LEAF_SNOWFLAKE_WORKERS: `0-${Math.ceil(WORKERS_EACH * this.seatCount)}`,
    };
    const process = await fleet.start(await fleet.makeDirectory(), env);
    const proxy = await TcpProxy.start(process.port);
    this.opened.push(() => proxy.stop());
    return { env, process, proxy };
  }

  private clientOptions(holder: string): object {
    const servers = this.servers.map(({ proxy }) => `http://127.0.0.1:${proxy.port}`);
    return { servers, snowflake: { mode: 'window', windowMs: WINDOW_MS, token: TOKEN, holder } };
  }

  private async take(seat: Seat): Promise<void> {
    while (this.running) {
      const { driver } = seat;
      for (const [command, all] of [
        [SNOWFLAKES, this.snowflakes],
        [SEGMENTS, this.segments],
      ] as const) {
        const answer = await driver.ask(command);
        if (answer?.code !== undefined) throw new Error(`${seat.name}: ${answer.code} ${answer.message}`);
        all.add(answer?.runs ?? [], seat.name);
        seat.issued += answer?.count ?? 0;
        for (const [code, count] of Object.entries(answer?.refused ?? {}))
          this.refused[code] = (this.refused[code] ?? 0) + count;
      }
      await sleep(this.random.spread(200, 1200));
    }
  }

  private async fault(fleet: BuiltServers): Promise<void> {
    const { random, servers, seats } = this;
    const kind = KINDS[random.below(KINDS.length)]!;
    const server = servers[random.below(servers.length)]!;
    const seat = seats[random.below(seats.length)]!;
    const { driver } = seat;
    // Past the window, whose worker ID is free for others 30 s after its end.
    const longestMs = Math.min(60_000, Math.max(12_000, this.options.minutes * 10_000));
    const ms = random.spread(500, kind === 'client stopped' ? longestMs : WINDOW_MS);
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    switch (kind) {
      case 'client stopped':
        driver.signal('SIGSTOP');
        await sleep(ms);
        driver.signal('SIGCONT');
        break;
      case 'client clock':
        await driver.stepTo(Math.round(random.spread(10, 60_000)) * (random.chance(0.5) ? 1 : -1));
        await sleep(ms);
        await driver.stepTo(0);
        break;
      case 'client restarted':
      case 'client killed':
        if (!driver.running) return;
        await (kind === 'client killed' ? driver.kill() : driver.close());
        if (seat.driver === driver) seat.restart();
        break;
      case 'server killed':
        await this.restart(fleet, [server], 0);
        break;
      case 'all servers killed':
        await this.restart(fleet, servers, ms);
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

  /** Kills these servers at once, and starts them again after a while. */
  private async restart(fleet: BuiltServers, servers: readonly Server[], ms: number): Promise<void> {
    const running = servers.filter((server) => server.process.running);
    await Promise.all(running.map((server) => server.process.kill()));
    await sleep(ms);
    for (const server of running) server.process = fleet.spawn(server.process.directory, server.env);
  }
}
