import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { requireTool } from '../../support/tools';

const SOURCES = 'test/long/strict/porcupine';
const run = promisify(execFile);

/** The judgement of Porcupine (https://github.com/anishathalye/porcupine). */
export interface Judgement {
  readonly isLinearizable: boolean;
  /** What the program printed. */
  readonly text: string;
}

/** Porcupine, a checker of linearizability in Go, beside the checker of this repository. */
export class Porcupine {
  private constructor(private readonly folder: string) {}

  /** Builds it; the first build on a machine fetches Porcupine. Throws if Go is not installed. */
  static async build(): Promise<Porcupine> {
    const go = await requireTool('go');
    const folder = await mkdtemp(join(tmpdir(), 'leaf-porcupine-'));
    await run(go, ['build', '-o', join(folder, 'porcupine'), '.'], { cwd: resolve(SOURCES) });
    return new Porcupine(folder);
  }

  /**
   * Judges a file of `writeHistory`. Throws if it cannot be read.
   *
   * @param file path of the history
   */
  async judge(file: string): Promise<Judgement> {
    try {
      const { stdout } = await run(join(this.folder, 'porcupine'), [file]);
      return { isLinearizable: true, text: stdout.trim() };
    } catch (error) {
      const { code, stdout } = error as { code?: unknown; stdout?: string };
      if (code !== 1) throw error;
      return { isLinearizable: false, text: stdout?.trim() ?? '' };
    }
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}
