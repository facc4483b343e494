import { stat } from 'node:fs/promises';
import Libsql from 'libsql';

/**
 * A lock on a file, held by one connection of one process, which the kernel lets go of when that process dies, however
 * it dies. It is SQLite's own file lock, kept by a transaction that never ends; the file stays empty.
 */
export class ExclusiveLock {
  private constructor(
    private readonly path: string,
    private readonly database: Libsql.Database,
    private readonly inode: bigint,
  ) {}

  /** @returns the lock, or undefined when it is held, in this process or another */
  static async take(path: string): Promise<ExclusiveLock | undefined> {
    const database = new Libsql(path, { timeout: 0 });
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      database.exec('BEGIN EXCLUSIVE');
      return new ExclusiveLock(path, database, await inodeOf(path));
    } catch (error) {
      database.close();
      if (error instanceof Error && (error as { code?: unknown }).code === 'SQLITE_BUSY') return undefined;
      throw error;
    }
  }

  /** Whether the locked file is still the one at its path: a replaced directory would let a second holder in. */
  async isInPlace(): Promise<boolean> {
    try {
      return (await inodeOf(this.path)) === this.inode;
    } catch {
      return false;
    }
  }

  release(): void {
    this.database.close();
  }
}

async function inodeOf(path: string): Promise<bigint> {
  return (await stat(path, { bigint: true })).ino;
}
