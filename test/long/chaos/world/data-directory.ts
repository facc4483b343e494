import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../../support/until';

/** The data directory of one server, and a copy of it. */
export class DataDirectory {
  private copied = false;

  constructor(
    readonly path: string,
    private readonly copy: string,
  ) {}

  /** Copies it, once: the copy is older each time it is put back. */
  async copyOnce(): Promise<void> {
    if (this.copied) return;
    await until(`copy of ${this.path}`, () => this.tryCopy());
    this.copied = true;
  }

  /** While no process uses it. */
  async putBack(): Promise<void> {
    for (const name of await readdir(this.path)) await rm(join(this.path, name), { recursive: true });
    await cp(this.copy, this.path, { recursive: true });
  }

  /** The server replaces its files while they are copied: one of them may be gone when its turn comes. */
  private async tryCopy(): Promise<boolean> {
    try {
      await cp(this.path, this.copy, { recursive: true });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await rm(this.copy, { recursive: true, force: true });
      return false;
    }
  }
}
