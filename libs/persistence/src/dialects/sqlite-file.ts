import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, syncDirectory } from '@leaf-ids/core/internal';
import { loadSqlite } from './sqlite-driver';

/**
 * Creates the database file if it does not exist. SQLite creates an empty file first, and treats an empty file as a new
 * database; after a disk fault, every tag would restart at 1. Therefore a new database is created under a temporary
 * name and renamed into place atomically, and an empty file is refused.
 *
 * @throws Error when the file is empty or cannot be created
 */
export async function provideDatabaseFile(path: string): Promise<void> {
  const info = await stat(path).catch(() => undefined);
  if (info?.size === 0) throw new Error('file is damaged: it exists, but is empty');
  if (info !== undefined) return;
  const Libsql = await loadSqlite();
  const fresh = `${path}.${randomUUID()}.new`;
  try {
    const database = new Libsql(fresh);
    try {
      database.pragma('journal_mode = WAL');
    } finally {
      database.close();
    }
    await putInPlace(fresh, path);
  } finally {
    await rm(fresh, { force: true });
  }
}

/** Keeps the file if another server has created it meanwhile. */
async function putInPlace(fresh: string, path: string): Promise<void> {
  try {
    await link(fresh, path).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error;
      // The file system has no hard links.
      return copyFile(fresh, path, constants.COPYFILE_EXCL);
    });
    await syncDirectory(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
