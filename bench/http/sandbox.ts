import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Child processes and temporary folders. They are removed when this process exits, except after SIGKILL. */
export class Sandbox {
  private readonly children = new Set<ChildProcess>();
  private readonly folders = new Set<string>();

  constructor() {
    process.once('exit', () => this.clear());
    process.once('SIGINT', () => process.exit(130));
    process.once('SIGTERM', () => process.exit(143));
  }

  spawn(command: readonly string[], options: SpawnOptions): ChildProcess {
    const [file = '', ...args] = command;
    return this.adopt(spawn(file, args, options));
  }

  /** Starts a child process that is killed when this process exits. */
  adopt(child: ChildProcess): ChildProcess {
    const forget = (): boolean => this.children.delete(child);
    this.children.add(child);
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
        else
          reject(
            new Error(
              `${command.join(' ')} exited with ${code ?? signal ?? 'an unknown code'}: ${stderr.slice(-2000)}`,
            ),
          );
      });
    });
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'leaf-bench-'));
    this.folders.add(folder);
    return folder;
  }

  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
    this.folders.delete(folder);
  }

  private clear(): void {
    for (const child of this.children) child.kill('SIGKILL');
    for (const folder of this.folders) this.remove(folder);
  }
}
