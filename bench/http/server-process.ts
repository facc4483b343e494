import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port';
import { launch } from '../../test/support/servers/launch';
import { cpuSecondsOf, readProc } from './processor-time';
import { request } from './request';
import type { Sandbox } from './sandbox';

export interface ServerOptions {
  readonly command: readonly string[];
  /** Answers 200 when the server can be used. */
  readonly readyPath: string;
  /** Any free one when left out. */
  readonly port?: number;
  /** Settings other than the defaults. */
  readonly env?: NodeJS.ProcessEnv;
}

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 10_000;
const POLL_MS = 5;

/** A server under test, a process of its own on a free port of the loopback address. */
export class ServerProcess {
  private failure: Error | undefined;

  private constructor(
    readonly port: number,
    /** From the start of the process to the first 200, in milliseconds. */
    readonly startMs: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly sandbox: Sandbox,
  ) {
    child.once('exit', (code, signal) => {
      this.failure = new Error(`The server ended with ${code ?? signal ?? 'nothing'}.\n${logTail(folder)}`);
    });
  }

  static async start(sandbox: Sandbox, options: ServerOptions): Promise<ServerProcess> {
    const { command, readyPath, port = await freePort(), env } = options;
    const folder = sandbox.folder();
    const settings = { ...environment(port, folder), ...env };
    const startedAt = performance.now();
    const child = sandbox.adopt(launch({ command, env: settings, logFile: logFile(folder) }));
    let spawnError: Error | undefined;
    child.once('error', (error) => (spawnError = error));
    while (performance.now() - startedAt < START_LIMIT_MS) {
      const status = await request(port, readyPath, START_LIMIT_MS).then(
        (answer) => answer.status,
        () => undefined,
      );
      if (status === 200) return new ServerProcess(port, performance.now() - startedAt, child, folder, sandbox);
      if (spawnError !== undefined) throw spawnError;
      if (child.exitCode !== null || child.signalCode !== null) break;
      await sleep(POLL_MS);
    }
    throw new Error(`${command.join(' ')} did not become ready at ${readyPath}.\n${logTail(folder)}`);
  }

  /** Throws when the process has ended by itself. */
  assertAlive(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  /** Processor time so far of the process, all threads, and those it started, in seconds; undefined without /proc. */
  cpuSeconds(): number | undefined {
    return cpuSecondsOf(this.child.pid ?? 0);
  }

  /** Resident memory in MiB; undefined where there is no /proc. */
  residentMiB(): number | undefined {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(this.child.pid ?? 0, 'status') ?? '')?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** As a crash does it. Its folder stays until the end: whoever measures meanwhile shall not wait for the disk. */
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

/** The defaults of the server are measured: settings of the caller's shell stay out. */
function environment(port: number, folder: string): NodeJS.ProcessEnv {
  const data = join(folder, 'data');
  mkdirSync(data);
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('LEAF_') && name !== 'NODE_OPTIONS',
  );
  return {
    ...Object.fromEntries(inherited),
    LEAF_HOST: '127.0.0.1',
    LEAF_PORT: String(port),
    LEAF_DATA_DIR: data,
    LEAF_LOG_FORMAT: 'json',
    LEAF_SHUTDOWN_DRAIN_MS: '0',
  };
}

function logFile(folder: string): string {
  return join(folder, 'server.log');
}

function logTail(folder: string): string {
  return readFileSync(logFile(folder), 'utf8').slice(-4000);
}
