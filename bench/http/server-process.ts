import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cores } from './cores';
import { cpuSecondsOf, readProc } from './processor-time';
import { request } from './request';
import { freePort, type Sandbox } from './sandbox';

export interface ServerOptions {
  readonly command: readonly string[];
  /** Path that returns 200 when the server is ready. */
  readonly readyPath: string;
  /** Settings other than the defaults. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The built server. */
export function leafServer(cores: Cores, main: string, env: NodeJS.ProcessEnv): ServerOptions {
  return { command: cores.server([process.execPath, main]), readyPath: '/health/ready', env };
}

const LOG = 'server.log';
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 10_000;
const POLL_MS = 5;

/** A server under test: a child process that listens on the loopback address. */
export class ServerProcess {
  private failure: Error | undefined;

  private constructor(
    readonly port: number,
    /** Time from the start of the process to the first 200, in milliseconds. */
    readonly startMs: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly sandbox: Sandbox,
  ) {
    child.once('exit', (code, signal) => {
      this.failure = new Error(`The server exited with ${code ?? signal ?? 'an unknown code'}.\n${logTail(folder)}`);
    });
  }

  static async start(sandbox: Sandbox, options: ServerOptions): Promise<ServerProcess> {
    const { command, readyPath, env } = options;
    const port = await freePort();
    const folder = sandbox.folder();
    const settings = { ...environment(port, folder), ...env };
    const startedAt = performance.now();
    const log = openSync(join(folder, LOG), 'a');
    const child = sandbox.spawn(command, { cwd: tmpdir(), stdio: ['ignore', log, log], env: settings });
    closeSync(log);
    let spawnError: Error | undefined;
    child.once('error', (error) => (spawnError = error));
    while (performance.now() - startedAt < START_LIMIT_MS) {
      const answer = await request(port, readyPath, START_LIMIT_MS).catch(() => undefined);
      if (answer?.status === 200) return new ServerProcess(port, performance.now() - startedAt, child, folder, sandbox);
      if (spawnError !== undefined) throw spawnError;
      if (child.exitCode !== null || child.signalCode !== null) break;
      await sleep(POLL_MS);
    }
    throw new Error(`${command.join(' ')} did not become ready at ${readyPath}.\n${logTail(folder)}`);
  }

  /** Throws if the process exited unexpectedly. */
  assertAlive(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  /** CPU time of the process and its children, all threads, in seconds; undefined without /proc. */
  cpuSeconds(): number | undefined {
    return cpuSecondsOf(this.child.pid ?? 0);
  }

  /** Resident memory in MiB; undefined without /proc. */
  residentMiB(): number | undefined {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(this.child.pid ?? 0, 'status') ?? '')?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  }

  /** Kills the process with SIGKILL. Its folder is deleted later, because disk I/O would affect measurements. */
  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
      this.child.kill('SIGTERM');
      await ended;
      clearTimeout(timer);
    }
    this.sandbox.remove(this.folder);
  }
}

/** The environment without LEAF_* and NODE_OPTIONS, to measure the defaults. */
function environment(port: number, folder: string): NodeJS.ProcessEnv {
  const data = join(folder, 'data');
  mkdirSync(data);
  const isInherited = (name: string): boolean => !name.startsWith('LEAF_') && name !== 'NODE_OPTIONS';
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isInherited(name))),
    LEAF_HOST: '127.0.0.1',
    LEAF_PORT: String(port),
    LEAF_DATA_DIR: data,
    LEAF_LOG_FORMAT: 'json',
    LEAF_SHUTDOWN_DRAIN_MS: '0',
  };
}

function logTail(folder: string): string {
  return readFileSync(join(folder, LOG), 'utf8').slice(-4000);
}
