import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { until } from '../until';

/** Of the default layout. */
const WORKER_IDS = 1024;

/** A fresh directory below the system's temporary one. */
export function makeDataDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'leaf-e2e-'));
}

export function removeDataDirectory(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

export interface TagRow {
  readonly tag: string;
  readonly step: number;
  readonly maxId?: number;
  readonly description?: string;
  readonly reset?: string;
}

/** Writes rows beside the running server, as an operator with an SQL shell does. */
export function insertTag(directory: string, ...rows: TagRow[]): void {
  const database = new Libsql(join(directory, 'leaf.sqlite'), { timeout: 5000 });
  try {
    const columns = 'biz_tag, max_id, step, description, reset_every';
    const insert = database.prepare(`INSERT INTO leaf_alloc (${columns}) VALUES (?, ?, ?, ?, ?)`);
    database.exec('BEGIN IMMEDIATE');
    for (const { tag, step, maxId = 1, description, reset } of rows) {
      insert.run(tag, maxId, step, description ?? null, reset ?? null);
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

/** Changes the worker IDs of the registry `database`, as an operator with an SQL shell does. */
export function changeWorkers(directory: string, sql: string): Promise<true> {
  return withWorkers(directory, (database) => {
    database.exec(sql);
    return true;
  });
}

export interface WorkerRow {
  readonly instance: string;
  readonly ceiling: number;
  readonly lease: string;
}

/** Adds records to the registry `database`, with the highest worker IDs that are free; returns these. */
export function addWorkers(directory: string, rows: readonly WorkerRow[]): Promise<number[]> {
  return withWorkers(directory, (database) => {
    database.exec('BEGIN IMMEDIATE');
    const taken = database.prepare('SELECT id FROM leaf_worker_pool').all() as { id: number }[];
    const isTaken = new Set(taken.map(({ id }) => id));
    const free = Array.from({ length: WORKER_IDS }, (_, index) => WORKER_IDS - 1 - index).filter(
      (workerId) => !isTaken.has(workerId),
    );
    const insert = database.prepare(
      'INSERT INTO leaf_worker_pool (id, ip_port, max_timestamp, lease_id) VALUES (?, ?, ?, ?)',
    );
    rows.forEach(({ instance, ceiling, lease }, index) => insert.run(free[index], instance, ceiling, lease));
    database.exec('COMMIT');
    return free.slice(0, rows.length);
  });
}

/** A server in this process can have a transaction open, which ends only if this does not block the process. */
function withWorkers<T>(
  directory: string,
  write: (database: Libsql.Database) => T,
): Promise<Exclude<T, undefined | false>> {
  return until('a database without a lock', () => {
    const database = new Libsql(join(directory, 'workers-leaf.sqlite'));
    try {
      return write(database);
    } catch (error) {
      if ((error as { readonly code?: string }).code === 'SQLITE_BUSY') return undefined;
      throw error;
    } finally {
      database.close();
    }
  });
}

export function maxIdOf(directory: string, tag: string): number | undefined {
  const database = new Libsql(join(directory, 'leaf.sqlite'), { timeout: 5000 });
  try {
    const row = database.prepare('SELECT max_id FROM leaf_alloc WHERE biz_tag = ?').get(tag);
    return (row as { max_id: number } | undefined)?.max_id;
  } finally {
    database.close();
  }
}
