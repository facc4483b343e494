import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
    await cp(this.path, this.copy, { recursive: true });
    this.copied = true;
  }

  /** While no process uses it. */
  async putBack(): Promise<void> {
    for (const name of await readdir(this.path)) await rm(join(this.path, name), { recursive: true });
    await cp(this.copy, this.path, { recursive: true });
  }
}
