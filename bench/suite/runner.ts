import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER_VARIABLE, type PartResults, readResults, resultsFolder } from '../report/results-file';
import type { Part } from './parts';

export interface RunOptions {
  readonly quick: boolean;
  /** Another checkout, built, to be measured in place of this one. */
  readonly product?: string;
  /** Where the results go. */
  readonly folder?: string;
  /** Whether its tables are shown. */
  readonly shown: boolean;
}

export interface PartRun {
  readonly seconds: number;
  /** Whether it ended well. */
  readonly ok: boolean;
  /** Undefined when it ended before it wrote any. */
  readonly results: PartResults | undefined;
}

/** Runs commands one after the other; a signal ends the one under way and all that would follow. */
export class Runner {
  private child: ChildProcess | undefined;
  private signal: NodeJS.Signals | undefined;

  constructor() {
    // Control-C reaches the children by itself, and they clean up.
    process.on('SIGINT', () => (this.signal = 'SIGINT'));
    process.on('SIGTERM', () => {
      this.signal = 'SIGTERM';
      this.child?.kill('SIGTERM');
    });
  }

  async part(part: Part, { quick, product, folder = resultsFolder(), shown }: RunOptions): Promise<PartRun> {
    const server = product === undefined ? [] : ['--server', join(product, 'dist/apps/leaf-server/src/main.js')];
    const words = [
      ...['bench/run.mjs', part.name],
      ...(product === undefined ? [] : ['--product', product]),
      ...(part.ofServer ? server : []),
      ...(quick ? ['--quick'] : []),
    ];
    rmSync(join(folder, `${part.name}.json`), { force: true });
    const startedAt = performance.now();
    const env = { ...process.env, [FOLDER_VARIABLE]: folder };
    const code = await this.run([process.execPath, ...words], { env, shown });
    const seconds = (performance.now() - startedAt) / 1000;
    return { seconds, ok: code === 0, results: readResults(part.name, folder) };
  }

  /** The exit code of a command, which runs in this folder if in no other. */
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
    if (this.signal !== undefined) throw new Error(`Ended by ${this.signal}.`);
    return code;
  }
}
