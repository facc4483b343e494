import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DatabaseTarget,
  type LeafDataSource,
  parseDatabaseUrl,
  SqlWorkerStore,
  type WorkerTable,
} from '@leaf-ids/persistence';
import { connect, lazily } from '../contract/sql-stores';
import { startMariadb } from './mariadb';
import { startPostgres } from './postgres';

/** A server for databases, or a directory of files. */
export interface DatabaseHost {
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

export async function startSqlite(): Promise<DatabaseHost> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-workers-'));
  let count = 0;
  return {
    createDatabase: () => Promise.resolve(`sqlite:${join(directory, `${count++}.sqlite`)}`),
    stop: () => rm(directory, { recursive: true }),
  };
}

export type DatabaseHostCase = readonly [name: string, start: () => Promise<DatabaseHost>];

export const SQLITE_HOST: DatabaseHostCase = ['SQLite', startSqlite];
export const SERVER_HOSTS: readonly DatabaseHostCase[] = [
  ['MariaDB', startMariadb],
  ['PostgreSQL', startPostgres],
];

/** What makes a table of workers, and its numbering, as good as new. */
const RESET: Record<DatabaseTarget['dialect'], readonly string[]> = {
  sqlite: ["DELETE FROM sqlite_sequence WHERE name = 'leaf_workerid_alloc'"],
  mysql: ['ALTER TABLE leaf_workerid_alloc AUTO_INCREMENT = 1'],
  postgres: ['ALTER SEQUENCE leaf_workerid_alloc_id_seq RESTART'],
};

/** One database with the tables of workers. */
export class WorkerTables {
  private constructor(
    private readonly host: DatabaseHost,
    readonly url: string,
    readonly target: DatabaseTarget,
    readonly rows: LeafDataSource,
  ) {}

  static async create(start: () => Promise<DatabaseHost>): Promise<WorkerTables> {
    const host = await start();
    const url = await host.createDatabase();
    const target = parseDatabaseUrl(url);
    return new WorkerTables(host, url, target, await connect(target));
  }

  store(table: WorkerTable): SqlWorkerStore {
    return new SqlWorkerStore(lazily(this.target), table);
  }

  async reset(): Promise<void> {
    for (const table of ['leaf_workerid_alloc', 'leaf_worker_pool', 'leaf_registry']) {
      await this.rows.query(`DELETE FROM ${table}`);
    }
    for (const sql of RESET[this.target.dialect]) await this.rows.query(sql);
  }

  /** Removes a row as if the numbering had never come to it. */
  async remove({ name }: WorkerTable, workerId: number): Promise<void> {
    await this.rows.query(`DELETE FROM ${name} WHERE id = ${workerId}`);
    for (const sql of RESET[this.target.dialect]) await this.rows.query(sql);
  }

  async stop(): Promise<void> {
    await this.rows.destroy();
    await this.host.stop();
  }
}
