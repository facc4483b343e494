import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const READY_LIMIT_MS = 60_000;
const POLL_MS = 20;
/** Below the ports of outgoing connections, so that a restarted server can listen on its port again. */
const FIRST_PORT = 15_000;
const PORTS = 17_000;

/** Child processes and temporary folders. They are removed when this process exits, except after SIGKILL. */
export class Sandbox {
  private readonly children = new Map<ChildProcess, NodeJS.Signals>();
  private readonly folders = new Set<string>();

  constructor() {
    process.once('exit', () => this.clear());
    process.once('SIGINT', () => process.exit(130));
    process.once('SIGTERM', () => process.exit(143));
  }

  /** Starts a child process that gets `end` when this process exits. */
  spawn(command: readonly string[], options: SpawnOptions, end: NodeJS.Signals = 'SIGKILL'): ChildProcess {
    const [file = '', ...args] = command;
    const child = spawn(file, args, options);
    const forget = (): boolean => this.children.delete(child);
    this.children.set(child, end);
    child.once('exit', forget);
    child.once('error', forget);
    return child;
  }

  /**
   * Runs a command with `input` as standard input and returns its standard output; rejects if the command fails or
   * takes longer than `limitMs`.
   */
  run(command: readonly string[], limitMs: number, input?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = this.spawn(command, { stdio: ['pipe', 'pipe', 'pipe'] });
      child.stdin?.end(input);
      let stdout = '';
      let stderr = '';
      child.stdout?.on('data', (data: Buffer) => (stdout += data.toString()));
      child.stderr?.on('data', (data: Buffer) => (stderr += data.toString()));
      const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
      child.once('error', reject);
      child.once('close', (code, signal) => {
        clearTimeout(timer);
        if (code === 0) resolve(stdout);
        else reject(new Error(`${command.join(' ')} exited with ${code ?? signal}: ${stderr.slice(-2000)}`));
      });
    });
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'leaf-bench-'));
    this.folders.add(folder);
    return folder;
  }

  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    this.folders.delete(folder);
  }

  private clear(): void {
    for (const [child, signal] of this.children) child.kill(signal);
    for (const folder of this.folders) this.remove(folder);
  }
}

/** A port on which nothing listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.on('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Repeats `attempt` until it succeeds. */
export async function untilReady(name: string, attempt: () => Promise<void>): Promise<void> {
  const limit = performance.now() + READY_LIMIT_MS;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (performance.now() > limit)
        throw new Error(`${name} is not ready after ${READY_LIMIT_MS} ms`, { cause: error });
      await sleep(POLL_MS);
    }
  }
}
