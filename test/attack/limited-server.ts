import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import { SERVER_FILE } from '../support/build';
import { freePorts } from '../support/free-port';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { call } from '../support/http/http';
import { addWorkers, type WorkerRow } from '../support/servers/data-directory';
import { until } from '../support/until';
import type { Attack } from './attacks';
import { ADMIN_TOKEN } from './tokens';

/** The memory limit of the manifests. */
export const MEMORY_MIB = 512;
/** The system keeps the highest value of a process; it is gone with the process. */
const PEAK_MS = 100;
const HOUR_MS = 3_600_000;

const isCgroup = spawnSync('systemd-run', ['--scope', '--quiet', 'true']).status === 0;
/** How the memory of the server is limited on this machine. */
export const LIMITED_BY = isCgroup ? `a cgroup of ${MEMORY_MIB} MiB` : `a heap limit of ${MEMORY_MIB} MiB`;

const SCOPE = ['systemd-run', '--scope', '--quiet', '-p', `MemoryMax=${MEMORY_MIB}M`, '-p', 'MemorySwapMax=0'];
const PROGRAM = isCgroup
  ? [...SCOPE, process.execPath, SERVER_FILE]
  : [process.execPath, `--max-old-space-size=${MEMORY_MIB}`, SERVER_FILE];
/** `exec` leaves the server with the pid that the test knows. */
const REDIRECTED = {
  closed: ['bash', '-c', 'exec "$0" "$@" > >(head -n 1)', ...PROGRAM],
  full: ['bash', '-c', 'exec "$0" "$@" > /dev/full', ...PROGRAM],
};

/** The built server as it is shipped, with the memory that the manifests give it. */
export class LimitedServer {
  /** The highest resident memory so far of the server and its child processes, also after their end. */
  peakMib = 0;
  private readonly watch: NodeJS.Timeout;

  private constructor(
    private readonly servers: BuiltServers,
    private readonly server: BuiltServer,
    readonly port: number,
    readonly respPort: number,
  ) {
    this.watch = setInterval(() => void this.readPeak(), PEAK_MS);
  }

  /** @param databaseUrl the embedded SQLite when left out */
  static async start({ stdout, env, tags = 0, workers = 0 }: Attack, databaseUrl?: string): Promise<LimitedServer> {
    const servers = new BuiltServers(stdout === undefined ? PROGRAM : REDIRECTED[stdout]);
    try {
      const directory = await servers.makeDirectory();
      const registry = workers > 0 ? registryIn(directory) : {};
      if (tags + workers > 0) await makeTables(directory, registry);
      if (tags > 0) addTags(directory, tags);
      if (workers > 0) await addWorkers(directory, absentServers(workers));
      const [port, respPort] = (await freePorts(2)) as [number, number];
      const server = servers.spawn(directory, {
        LEAF_PORT: String(port),
        LEAF_RESP_PORT: String(respPort),
        LEAF_MAX_LAG_MS: undefined,
        LEAF_SEGMENT_WAIT_MS: undefined,
        LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
        ...(databaseUrl === undefined ? {} : { LEAF_DATABASE_URL: databaseUrl }),
        ...registry,
        ...env,
      });
      await until('readiness', async () => {
        if (!server.running) throw new Error(`The server ended before it was ready:\n${server.stdout}${server.stderr}`);
        const answer = await call(port, '/health/ready').catch(() => undefined);
        return answer?.status === 200;
      });
      return new LimitedServer(servers, server, port, respPort);
    } catch (error) {
      await servers.end();
      throw error;
    }
  }

  get running(): boolean {
    return this.server.running;
  }

  end(): Promise<void> {
    clearInterval(this.watch);
    return this.servers.end();
  }

  private async readPeak(): Promise<void> {
    const { pid } = this.server;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const peaks = await Promise.all([String(pid), ...children.split(' ').filter(Boolean)].map(peakOf));
    this.peakMib = Math.max(
      this.peakMib,
      peaks.reduce((sum, peak) => sum + peak, 0),
    );
  }
}

async function peakOf(pid: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

function registryIn(directory: string): NodeJS.ProcessEnv {
  return { LEAF_SNOWFLAKE_REGISTRY: 'database', LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite` };
}

/** By a first start. */
async function makeTables(directory: string, env: NodeJS.ProcessEnv): Promise<void> {
  const servers = new BuiltServers();
  const server = await servers.start(directory, env);
  server.signal('SIGTERM');
  await server.exit();
}

function addTags(directory: string, tags: number): void {
  const database = new Libsql(join(directory, 'leaf.sqlite'), { timeout: 5000 });
  database.exec(`INSERT INTO leaf_alloc (biz_tag, max_id, step)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${tags - 1})
    SELECT 'service.tag-' || i, 1, 100 FROM n`);
  database.close();
}

/** Servers that do not run, at addresses of this host: requests to them are refused at once. */
function absentServers(count: number): WorkerRow[] {
  const ceiling = Date.now() + HOUR_MS;
  return Array.from({ length: count }, (_, index) => {
    return { instance: `127.0.0.1:${index + 1}`, ceiling, lease: `lease-${index + 1}.1` };
  });
}
