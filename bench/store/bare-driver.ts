import Libsql from 'libsql';
import { createPool, type ResultSetHeader } from 'mysql2/promise';
import { Pool } from 'pg';
import { packageVersion } from '../report/package-version';

/** The statements of the store, executed by the driver alone, as hand-written SQL in an application. */
export interface BareDriver {
  readonly name: string;
  /** Raises one row by its step; throws if the row does not exist. */
  update(tag: string): Promise<void>;
  /** The names of all tags. */
  list(): Promise<number>;
  close(): Promise<void>;
}

const LIST = 'SELECT biz_tag FROM leaf_alloc ORDER BY biz_tag';

/** Uses as many connections as the store. */
export function bareMysql(url: string, connections: number): BareDriver {
  const pool = createPool({ uri: url, connectionLimit: connections });
  return {
    name: `mysql2 ${packageVersion('mysql2')}`,
    async update(tag) {
      const sql = 'UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id + step) WHERE biz_tag = ?';
      const [{ affectedRows, insertId }] = await pool.query<ResultSetHeader>(sql, [tag]);
      if (affectedRows !== 1 || insertId === 0) throw new Error(`Tag ${tag} does not exist.`);
    },
    list: async () => ((await pool.query(LIST))[0] as unknown[]).length,
    close: () => pool.end(),
  };
}

/** Uses as many connections as the store. */
export function barePostgres(url: string, connections: number): BareDriver {
  const pool = new Pool({ connectionString: url, max: connections });
  return {
    name: `pg ${packageVersion('pg')}`,
    async update(tag) {
      const sql = 'UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = $1 RETURNING max_id';
      const { rows } = await pool.query(sql, [tag]);
      if (rows.length !== 1) throw new Error(`Tag ${tag} does not exist.`);
    },
    list: async () => (await pool.query(LIST)).rows.length,
    close: () => pool.end(),
  };
}

/** As durable as the store. The driver is synchronous. */
export function bareSqlite(file: string): BareDriver {
  const database = new Libsql(file, { timeout: 5000 });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  const update = database.prepare('UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ? RETURNING max_id');
  const list = database.prepare(LIST);
  return {
    name: `libsql ${packageVersion('libsql')}`,
    update(tag) {
      if (update.all(tag).length !== 1) throw new Error(`Tag ${tag} does not exist.`);
      return Promise.resolve();
    },
    list: () => Promise.resolve(list.all().length),
    close() {
      database.close();
      return Promise.resolve();
    },
  };
}
