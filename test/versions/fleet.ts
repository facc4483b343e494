import { codeOf } from '../long/chaos/load/server-caller';
import { freePort } from '../support/free-port';
import { ADMIN_TOKEN, admin } from '../support/http/admin';
import { call } from '../support/http/http';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { guarded } from '../support/servers/private-server';
import { until } from '../support/until';
import type { Servers } from './http-caller';
import type { Ledger } from './ledger';
import type { Pair, Place } from './pairs';
import { Program } from './program';
import { PERIODIC, PLAIN, TAGS, type Version } from './tags';

const SERVERS = 3;
const WORKER_TOKEN = 'worker-token-0123456789';
const READY_LIMIT_MS = 180_000;
/** Long enough for a restart of a server. */
const WINDOW_MS = 20_000;

export type Roots = Readonly<Record<Version, string>>;

/** Three servers, an application and a client; each is of the older or of the newer version. */
export class Fleet implements Servers {
  readonly ports: number[] = [];
  readonly versions: (Version | undefined)[] = [];
  readonly created = new Set<string>();
  readonly unknown = new Set<string>();
  /** The longest time until a restarted server was ready, in milliseconds. */
  slowestMs = 0;
  restarts = 0;
  kills = 0;
  private readonly builds: Readonly<Record<Version, BuiltServers>>;
  private readonly servers: BuiltServer[] = [];
  private readonly directories: string[] = [];
  private readonly programs: (Program | undefined)[] = [];
  private readonly logs = new Set<string>();

  private constructor(
    private readonly roots: Roots,
    private readonly pair: Pair,
    private readonly place: Place,
    private readonly ledger: Ledger,
    guard: readonly string[],
  ) {
    const of = (root: string): BuiltServers =>
      new BuiltServers([...guard, process.execPath, `${root}/dist/apps/leaf-server/src/main.js`]);
    this.builds = { old: of(roots.old), new: of(roots.new) };
  }

  /** All of the older version. */
  static async start(roots: Roots, pair: Pair, place: Place, ledger: Ledger): Promise<Fleet> {
    const fleet = new Fleet(roots, pair, place, ledger, await guarded([]));
    try {
      for (let n = 0; n < SERVERS; n++) {
        fleet.ports.push(await freePort());
        fleet.directories.push(place.shared ?? (await fleet.builds.new.makeDirectory()));
        await fleet.startServer(n, 'old');
      }
      await fleet.createTags();
      for (const tag of TAGS) if (!fleet.created.has(tag.tag)) fleet.unknown.add(tag.tag);
      for (const kind of ['application', 'client'] as const) await fleet.startProgram(kind, 'old');
      return fleet;
    } catch (error) {
      await fleet.end();
      throw error;
    }
  }

  /** Servers, then the application and the client. */
  get members(): number {
    return SERVERS + this.programs.length;
  }

  /** Stops a member and starts it with the other version. */
  async replace(member: number, version: Version, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.restarts++;
    if (signal === 'SIGKILL') this.kills++;
    if (member >= SERVERS) {
      const kind = member === SERVERS ? 'application' : 'client';
      await this.programs[member - SERVERS]?.stop(signal);
      await this.startProgram(kind, version);
      return;
    }
    this.versions[member] = undefined;
    const server = this.servers[member]!;
    server.signal(signal);
    const { code } = await server.exit();
    if (signal === 'SIGTERM' && code !== 0) this.ledger.fault(`server ${member} ended with ${code}: ${tail(server)}`);
    const began = performance.now();
    await this.startServer(member, version);
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    if (version === 'new') await this.createTags();
  }

  /** The worst lines of the logs, without numbers, each once. */
  complaints(): string[] {
    const lines = [...this.logs].flatMap((log) => log.split('\n'));
    const bad = lines.filter((line) => /^\{"level":"(warn|error|fatal)"/.test(line));
    return [...new Set(bad.map(shortened))];
  }

  async end(): Promise<void> {
    for (const program of this.programs) await program?.stop('SIGKILL');
    for (const server of this.servers) this.keepLog(server);
    for (const build of Object.values(this.builds)) await build.end();
  }

  private keepLog({ stdout, stderr }: BuiltServer): void {
    this.logs.add(stdout + stderr);
  }

  private async startServer(n: number, version: Version): Promise<void> {
    const before = this.servers[n];
    if (before !== undefined) this.keepLog(before);
    const directory = this.directories[n]!;
    const server = this.builds[version].spawn(directory, {
      LEAF_PORT: String(this.ports[n]),
      LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
      LEAF_WORKER_TOKENS: WORKER_TOKEN,
      LEAF_LOG_FORMAT: 'json',
      ...this.place.env(n, directory),
    });
    this.servers[n] = server;
    const look = async (): Promise<boolean> => {
      if (!server.running) throw new Error(`The ${version} server ${n} does not start:\n${tail(server)}`);
      return (await call(this.ports[n]!, '/health/ready').catch(() => undefined))?.status === 200;
    };
    await until(`the ${version} server ${n}`, look, READY_LIMIT_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${tail(server)}`, { cause: error });
    });
    this.versions[n] = version;
  }

  /** Those that the version of a server knows. A version that does not know a setting refuses it with a code. */
  private async createTags(): Promise<void> {
    for (const tag of TAGS) {
      if (this.created.has(tag.tag)) continue;
      const n = this.versions.indexOf('new');
      const { status, body } = await admin(this.ports[Math.max(n, 0)]!, 'POST', '/api/tags', tag);
      if (status < 300) this.created.add(tag.tag);
      else if (n >= 0 || !codeOf({ status, body }).startsWith('LEAF_')) this.ledger.fault(`POST /api/tags: ${body}`);
    }
  }

  private async startProgram(kind: 'application' | 'client', version: Version): Promise<void> {
    const { pair, place, roots, ledger } = this;
    const common = { tag: PLAIN, period: PERIODIC, snowflakes: kind === 'application' || pair.windows };
    const servers = this.ports.map((port) => `http://127.0.0.1:${port}`);
    const snowflake = { mode: 'window', windowMs: WINDOW_MS, token: WORKER_TOKEN, holder: 'client' };
    const options = {
      application: { database: place.url, snowflake: place.snowflake },
      client: { servers, ...(pair.windows && { snowflake }) },
    }[kind];
    const index = kind === 'application' ? 0 : 1;
    const caller = ledger.history.addCaller(`${version} ${kind}`);
    this.programs[index] = await Program.start(
      { root: roots[version], kind, options: { ...common, ...options } },
      ledger,
      caller,
    );
  }
}

function tail({ stdout, stderr }: BuiltServer): string {
  return (stdout + stderr).slice(-3000);
}

function shortened(line: string): string {
  const { level, message = line } = JSON.parse(line) as { level?: string; message?: string };
  return `${level} ${message}`.replaceAll(/\d+/g, '#').slice(0, 240);
}
