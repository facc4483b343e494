import type { DatabaseTarget } from '../database/database-url';
import { MYSQL_GUARD } from '../dialects/mysql-guard';
import { POSTGRES_GUARD } from '../dialects/postgres-guard';
import type { SqlDatabase, SqlParameter } from '../connections/sql-database';
import { numbered, unchanged } from './sql-text';

/** A write of one row, with `?` for a parameter. */
export interface RowWrite {
  readonly sql: string;
  /** `origin` among them where {@link WorkerDialect.isOrigin} stands. */
  readonly parameters: readonly SqlParameter[];
  /** The key column, whose value is returned. */
  readonly key: string;
}

/** How the statements on workers differ between databases. */
export interface WorkerDialect {
  /** The statement as the driver wants it. */
  readonly text: (sql: string) => string;
  /**
   * SQL that evaluates, on the server that executes it, to the name of its copy of the data; to NULL once the server is
   * not what it was when it was asked.
   */
  readonly askOrigin: (access: SqlDatabase) => Promise<string>;
  /** A condition with one parameter: this copy of the data executes the write. */
  readonly isOrigin: (origin: string) => string;
  /** A parameter that is a whole number. */
  readonly integer: string;
  /** Begin and end of an INSERT that keeps an existing row. */
  readonly insert: string;
  readonly onConflict: string;
  /** @returns the key of each row that was written */
  readonly write: (access: SqlDatabase, write: RowWrite, origin: string) => Promise<readonly unknown[]>;
  /** Whether the column of the table's numbering takes 0 for "the next number". */
  readonly zeroIsNext: boolean;
  /** Raises the table's numbering above an explicit number, its parameter; undefined where the database does that. */
  readonly raiseNumbering: string | undefined;
  /** Unix milliseconds by the clock of the server; undefined where it is the clock of this host. */
  readonly now: string | undefined;
}

interface Written {
  readonly written: number | string;
}

const SQLITE: WorkerDialect = {
  text: unchanged,
  askOrigin: () => Promise.resolve("'sqlite'"),
  isOrigin: (origin) => `${origin} = ?`,
  integer: '?',
  insert: 'INSERT OR IGNORE',
  onConflict: '',
  write: async (access, { sql, parameters, key }) => {
    const rows = await access.run<Written[]>(`${sql} RETURNING ${key} AS written`, [...parameters]);
    return rows.map(({ written }) => written);
  },
  zeroIsNext: false,
  raiseNumbering: undefined,
  now: undefined,
};

const MYSQL: WorkerDialect = {
  text: unchanged,
  askOrigin: async (access) => (await MYSQL_GUARD.askIdentity((sql) => access.run(sql, []))).expression,
  // A variable of the session: statement-based replication carries over its value, not its expression.
  isOrigin: () => '@leaf_server = ?',
  integer: 'CAST(? AS SIGNED)',
  insert: 'INSERT IGNORE',
  onConflict: '',
  write: async (access, { sql, parameters }, origin) => {
    const statements = [
      { sql: `SET @leaf_server = ${origin}`, parameters: [] },
      { sql, parameters },
    ];
    const answers = (await access.runTogether(statements)) as readonly { affectedRows: number; insertId: number }[];
    return answers.slice(-1).flatMap(({ affectedRows, insertId }) => (affectedRows > 0 ? [insertId] : []));
  },
  zeroIsNext: true,
  raiseNumbering: undefined,
  // Not from NOW(3) alone: in the session's time zone, one hour a year occurs twice.
  now: 'UNIX_TIMESTAMP() * 1000 + MICROSECOND(NOW(3)) DIV 1000',
};

const POSTGRES: WorkerDialect = {
  text: numbered,
  askOrigin: async (access) => (await POSTGRES_GUARD.askIdentity((sql) => access.run(sql, []))).expression,
  isOrigin: (origin) => `(${origin}) = ?`,
  integer: 'CAST(? AS bigint)',
  insert: 'INSERT',
  onConflict: 'ON CONFLICT DO NOTHING',
  write: async (access, { sql, parameters, key }) => {
    // The driver returns plain UPDATEs in another shape than INSERTs.
    const text = `WITH done AS (${sql} RETURNING ${key} AS written) SELECT written FROM done`;
    const rows = await access.run<Written[]>(numbered(text), [...parameters]);
    return rows.map(({ written }) => written);
  },
  zeroIsNext: false,
  // Two at once may leave the numbering too low by one: the next INSERT finds its number taken, the one after succeeds.
  raiseNumbering: `SELECT setval(numbers, GREATEST(CAST(? AS bigint), COALESCE(pg_sequence_last_value(numbers), 1)))
    FROM (SELECT CAST(pg_get_serial_sequence('leaf_workerid_alloc', 'id') AS regclass) AS numbers) AS sequence`,
  now: 'EXTRACT(EPOCH FROM clock_timestamp()) * 1000',
};

export const WORKER_DIALECTS: Readonly<Record<DatabaseTarget['dialect'], WorkerDialect>> = {
  sqlite: SQLITE,
  mysql: MYSQL,
  postgres: POSTGRES,
};
