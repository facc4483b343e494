import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, syncDirectory } from '@leaf-ids/core';
import { loadSqlite } from './sqlite-driver';

/**
 * Sees to it that there is a database file, whole. SQLite makes its file first and fills it later, and takes an empty
 * file for a new database: after a disk fault that would start every tag again at 1. Hence a new database is made under
 * another name and put in place in one step, and an empty file is refused.
 *
 * @throws Error when the file is empty or cannot be made
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

/** A file that another server has put there meanwhile is as good, and stays. */
async function putInPlace(fresh: string, path: string): Promise<void> {
  try {
    await link(fresh, path).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error;
      // A file system without hard links.
      return copyFile(fresh, path, constants.COPYFILE_EXCL);
    });
    await syncDirectory(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
