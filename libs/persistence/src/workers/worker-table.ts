import type { Instance } from '@leaf/core';
import type { DatabaseTarget } from '../database-url';
import type { SqlDatabase, SqlParameter } from '../sql-database';
import { WORKER_DIALECTS, type WorkerDialect } from './worker-dialect';

/** One row of `leaf_workerid_alloc`, as far as a lease needs it. */
export interface WorkerRow {
  readonly id: number;
  /** Unix milliseconds; 0 for a row that has none. */
  readonly ceiling: number;
  /** Of the acquisition that wrote last; undefined after a release, and in rows of the Java service. */
  readonly leaseId: string | undefined;
}

/** Opened when it is first needed. */
export interface WorkerDatabase {
  readonly target: Pick<DatabaseTarget, 'dialect' | 'description'>;
  open(): Promise<{ readonly access: SqlDatabase }>;
  close(): Promise<void>;
}

interface StoredRow {
  readonly id: number | string;
  readonly max_timestamp: number | string | null;
  readonly lease_id: string | null;
}

/**
 * The table `leaf_workerid_alloc`: a row for each `ip:port`, its `id` the worker ID. All calls reject with
 * `LEAF_STORE_UNAVAILABLE` when the database does not answer; a write may have been carried out then.
 */
export class WorkerTable {
  private readonly dialect: WorkerDialect;

  constructor(private readonly database: WorkerDatabase) {
    this.dialect = WORKER_DIALECTS[database.target.dialect];
  }

  get description(): string {
    return this.database.target.description;
  }

  /** The row of an instance, made if there is none. */
  async provide({ ip, port }: Instance, name: string): Promise<WorkerRow> {
    const { insert } = this.dialect;
    for (;;) {
      const row = await this.one('ip_port = ?', name);
      if (row !== undefined) return row;
      await this.run(insert, [ip, String(port), name]);
    }
  }

  find(id: number): Promise<WorkerRow | undefined> {
    return this.one('id = ?', id);
  }

  /**
   * Writes `next` if the row is still as `known` says.
   *
   * @returns whether it was
   */
  async write(known: WorkerRow, next: Pick<WorkerRow, 'ceiling' | 'leaseId'>): Promise<boolean> {
    const sql = `UPDATE leaf_workerid_alloc SET max_timestamp = ?, lease_id = ?, update_time = CURRENT_TIMESTAMP
      WHERE id = ? AND COALESCE(max_timestamp, 0) = ? AND COALESCE(lease_id, '') = ?`;
    const { returning, changed } = this.dialect;
    const answer = await this.run(`${sql} ${returning}`, [
      next.ceiling,
      next.leaseId ?? null,
      known.id,
      known.ceiling,
      known.leaseId ?? '',
    ]);
    return changed(answer);
  }

  /** The instances whose ceiling lies above `timestamp`: those that are up, or went down without a release. */
  async reservedAbove(timestamp: number): Promise<{ readonly instance: string; readonly workerId: number }[]> {
    const sql = 'SELECT ip_port, id FROM leaf_workerid_alloc WHERE max_timestamp > ? ORDER BY id';
    const rows = await this.run<{ ip_port: string; id: number | string }[]>(sql, [timestamp]);
    return rows.map(({ ip_port, id }) => ({ instance: ip_port, workerId: Number(id) }));
  }

  /** The highest worker ID given; 0 before the first. */
  async highestId(): Promise<number> {
    const [row] = await this.run<{ highest: number | string | null }[]>(
      'SELECT MAX(id) AS highest FROM leaf_workerid_alloc',
      [],
    );
    return Number(row?.highest ?? 0);
  }

  /** Unix milliseconds by the clock of the database server; undefined where it is the clock of this host. */
  async now(): Promise<number | undefined> {
    const { now } = this.dialect;
    if (now === undefined) return undefined;
    const [row] = await this.run<{ now: number | string }[]>(`SELECT ${now} AS now`, []);
    return row && Math.round(Number(row.now));
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private async one(condition: string, parameter: string | number): Promise<WorkerRow | undefined> {
    const sql = `SELECT id, max_timestamp, lease_id FROM leaf_workerid_alloc WHERE ${condition}`;
    const [row] = await this.run<StoredRow[]>(sql, [parameter]);
    if (row === undefined) return undefined;
    const { id, max_timestamp, lease_id } = row;
    return { id: Number(id), ceiling: Number(max_timestamp ?? 0), leaseId: lease_id ?? undefined };
  }

  private async run<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    const { access } = await this.database.open();
    return access.run(this.dialect.text(sql), parameters);
  }
}
