import type { DatabaseTarget } from '../database-url';
import { numbered, unchanged } from '../sql-text';

/** What differs from database to database in the statements on workers; written with `?` for a parameter. */
export interface WorkerDialect {
  /** The statement as the driver wants it. */
  readonly text: (sql: string) => string;
  /** ip, port, ip_port; leaves a row that is there */
  readonly insert: string;
  /** What an UPDATE has to end with so that `changed` can read its answer. */
  readonly returning: string;
  readonly changed: (answer: unknown) => boolean;
  /** Unix milliseconds by the server's clock. */
  readonly now: string | undefined;
}

const INSERT =
  'INTO leaf_workerid_alloc (ip, port, ip_port, max_timestamp, create_time) VALUES (?, ?, ?, 0, CURRENT_TIMESTAMP)';

export const WORKER_DIALECTS: Readonly<Record<DatabaseTarget['dialect'], WorkerDialect>> = {
  sqlite: {
    text: unchanged,
    insert: `INSERT OR IGNORE ${INSERT}`,
    returning: 'RETURNING 1 AS changed',
    changed: (answer) => (answer as unknown[]).length > 0,
    now: undefined,
  },
  mysql: {
    text: unchanged,
    insert: `INSERT IGNORE ${INSERT}`,
    returning: '',
    changed: (answer) => (answer as { readonly affectedRows: number }).affectedRows > 0,
    // Not of NOW(3) itself: an hour of each year comes twice in the time zone of the session.
    now: 'UNIX_TIMESTAMP() * 1000 + MICROSECOND(NOW(3)) DIV 1000',
  },
  postgres: {
    text: numbered,
    insert: `INSERT ${INSERT} ON CONFLICT (ip_port) DO NOTHING`,
    returning: '',
    changed: (answer) => (answer as [unknown, number])[1] > 0,
    now: 'EXTRACT(EPOCH FROM clock_timestamp()) * 1000',
  },
};
