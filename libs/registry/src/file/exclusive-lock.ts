import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import { codeOf, messageOf } from '@leaf-ids/core/internal';
import { loadSqlite, type SqliteConnection } from '@leaf-ids/persistence';

/**
 * An exclusive file lock, held by one connection of one process. The kernel releases it when the process ends, even
 * after a crash. It is the file lock of SQLite, held by an open transaction; the file stays empty.
 */
export class ExclusiveLock {
  private constructor(
    private readonly path: string,
    private readonly database: SqliteConnection,
    private readonly inode: bigint,
  ) {}

  /** @returns the lock, or undefined if this or another process holds it */
  static async take(path: string): Promise<ExclusiveLock | undefined> {
    const Libsql = await loadSqlite();
    // Stryker disable next-line ObjectLiteral: 0 is the default of libsql
    const database = new Libsql(path, { timeout: 0 });
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      database.exec('BEGIN EXCLUSIVE');
      return new ExclusiveLock(path, database, await inodeOf(path));
    } catch (error) {
      database.close();
      if (codeOf(error) === 'SQLITE_BUSY') return undefined;
      throw error;
    }
  }

  /**
   * Whether the locked file is still at its path. If the directory was replaced, a second process could lock the new
   * file.
   */
  async isInPlace(): Promise<boolean> {
    return (await inodeOf(this.path).catch(() => undefined)) === this.inode;
  }

  release(): void {
    this.database.close();
  }
}

/**
 * Locks a directory, and creates it if it does not exist.
 *
 * @param subject owner of the directory, for errors
 * @returns undefined if this or another process holds the lock
 * @throws LeafError `LEAF_DATA_DIR_UNUSABLE`
 */
export async function lockDirectory(directory: string, subject: string): Promise<ExclusiveLock | undefined> {
  try {
    await mkdir(directory, { recursive: true });
    return await ExclusiveLock.take(join(directory, 'worker.lock'));
  } catch (error) {
    throw new LeafError(
      'LEAF_DATA_DIR_UNUSABLE',
      `Cannot lock ${subject} in ${directory}: ${messageOf(error)}. Make the directory writable for this user, or use another data directory.`,
      { cause: error },
    );
  }
}

async function inodeOf(path: string): Promise<bigint> {
  // Stryker disable next-line ObjectLiteral,BooleanLiteral: file systems with numbers above 2^53 are rare
  return (await stat(path, { bigint: true })).ino;
}
