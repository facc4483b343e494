import { randomUUID } from 'node:crypto';
import { type BigIntStats, constants, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { copyFile, link, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import { codeOf, syncDirectory } from '@leaf-ids/core/internal';
import { missingDriver } from '../shared/server-driver';

/** The parts of a libsql database that Leaf uses; declared here because the package is optional. */
export interface SqliteConnection {
  exec(sql: string): unknown;
  pragma(text: string): unknown;
  prepare(sql: string): { all(): unknown[] };
  close(): unknown;
}

export type SqliteDriver = new (path: string, options?: { readonly timeout: number }) => SqliteConnection;

/**
 * Loads libsql. The import is lazy, because other engines do not need the package.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when libsql does not load
 */
export async function loadSqlite(): Promise<SqliteDriver> {
  try {
    return (await import('libsql')).default;
  } catch (error) {
    throw missingDriver('libsql', 'SQLite files and the local worker registry need', error);
  }
}

/** End of the temporary name of a new file. */
const NEW = '.new';

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
  const fresh = `${path}.${randomUUID()}${NEW}`;
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
    // A copy where the file system has no hard links; it fails, too, when there is a file.
    await link(fresh, path).catch(() => copyFile(fresh, path, constants.COPYFILE_EXCL));
    await syncDirectory(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** The one path of a file that may have several, by symbolic links. It need not exist. */
export function onePath(file: string): string {
  const real = (path: string): string | undefined => {
    try {
      return realpathSync(path);
    } catch {
      return undefined;
    }
  };
  return real(file) ?? join(real(dirname(file)) ?? resolve(dirname(file)), basename(file));
}

/** Why the log of this file cannot be found by all processes that open it; undefined if it can. */
export function pathFault(file: string, mounts = mountPoints()): string | undefined {
  // SQLite keeps its log beside the path of the file, not beside the file. While the file is made, and after a kill in
  // that moment, it also has its temporary name.
  const temporary = temporaryNames(file);
  const { nlink, ino } = statSync(file);
  if (nlink - temporary.filter((each) => each === ino).length > 1) {
    return 'file has several names (hard links), each with a log of its own; keep one of them';
  }
  if (mounts.includes(file)) return 'file itself is a mount point, and its log is outside of it; mount its directory';
  return undefined;
}

/** The identities of the files that {@link provideDatabaseFile} has made, or is making, for this one. */
function temporaryNames(file: string): number[] {
  const names = readdirSync(dirname(file)).filter(
    (name) => name.startsWith(`${basename(file)}.`) && name.endsWith(NEW),
  );
  return names.flatMap((name) => statSync(join(dirname(file), name), { throwIfNoEntry: false })?.ino ?? []);
}

function mountPoints(): readonly string[] {
  try {
    return mountPointsOf(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return []; // Only Linux has this file.
  }
}

/** @param text in the format of proc_pid_mountinfo(5) */
export function mountPointsOf(text: string): readonly string[] {
  const unescaped = (path: string): string =>
    path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
  return text.split('\n').map((line) => unescaped(line.split(' ')[4] ?? ''));
}

/**
 * The files of an open database. While it is open they never change by themselves: SQLite removes the log with the last
 * connection only. A process that opens and closes one of them, for example to copy it, drops the locks of its own
 * connections; the next one that closes the database then removes the log that is still written to.
 */
export class SqliteFiles {
  private readonly known = new Map<string, BigIntStats | undefined>();

  constructor(private readonly file: string) {}

  /**
   * Call before and after a transaction: what was committed to a file that nobody else opens does not count.
   *
   * @throws LeafError `LEAF_DATABASE_UNUSABLE` for a file that was removed or replaced
   */
  assertInPlace(): void {
    for (const path of [this.file, `${this.file}-wal`, `${this.file}-shm`]) {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      const known = this.known.get(path);
      if (known === undefined) this.known.set(path, found);
      else if (found?.ino !== known.ino || found.dev !== known.dev) throw replaced(path);
    }
  }
}

function replaced(path: string): LeafError {
  return new LeafError(
    'LEAF_DATABASE_UNUSABLE',
    `The file ${path} was removed or replaced while this process had it open, so that other processes do not see its allocations. Restart every process that uses it. Do not replace, copy or read the file from a process that runs Leaf: docs/operations/backup.md.`,
  );
}
