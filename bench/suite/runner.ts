import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER_VARIABLE, type PartResults, readResults, resultsFolder } from '../report/results';

export interface RunOptions {
  readonly quick: boolean;
  /** Undefined for the plan of the part. */
  readonly rounds?: number | undefined;
  /** Another built checkout to measure instead of this one. */
  readonly product?: string;
  /** Folder for the results. */
  readonly folder?: string;
  /** Whether to print its tables. */
  readonly shown: boolean;
}

export interface PartRun {
  readonly seconds: number;
  /** Whether it succeeded. */
  readonly ok: boolean;
  /** Undefined if it exited before it wrote results. */
  readonly results: PartResults | undefined;
}

/** Runs commands sequentially; a signal ends the current command and skips the rest. */
export class Runner {
  private child: ChildProcess | undefined;
  private signal: NodeJS.Signals | undefined;

  constructor() {
    // The terminal sends Ctrl+C to the children too, and they clean up.
    process.on('SIGINT', () => (this.signal = 'SIGINT'));
    process.on('SIGTERM', () => {
      this.signal = 'SIGTERM';
      this.child?.kill('SIGTERM');
    });
  }

  async part(name: string, options: RunOptions): Promise<PartRun> {
    const { quick, rounds, product, folder = resultsFolder(), shown } = options;
    const words = ['bench/run.mjs', name, ...(quick ? ['--quick'] : [])];
    if (rounds !== undefined) words.push('--rounds', String(rounds));
    if (product !== undefined) {
      words.push('--product', product, '--server', join(product, 'dist/apps/leaf-server/src/main.js'));
    }
    rmSync(join(folder, `${name}.json`), { force: true });
    const startedAt = performance.now();
    const env = { ...process.env, [FOLDER_VARIABLE]: folder };
    const code = await this.run([process.execPath, ...words], { env, shown });
    const seconds = (performance.now() - startedAt) / 1000;
    return { seconds, ok: code === 0, results: readResults(name, folder) };
  }

  /** Runs a command, by default in this folder, and returns its exit code. */
  async run(
    [file = '', ...args]: readonly string[],
    { cwd, env, shown }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly shown: boolean },
  ): Promise<number> {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', shown ? 'inherit' : 'ignore', 'inherit'] });
    this.child = child;
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status) => resolve(status ?? 1));
    });
    this.child = undefined;
    if (this.signal !== undefined) throw new Error(`Terminated by ${this.signal}.`);
    return code;
  }
}
