import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';

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
export function changeWorkers(directory: string, sql: string): void {
  const database = new Libsql(join(directory, 'workers-leaf.sqlite'), { timeout: 5000 });
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
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
