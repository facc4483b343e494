import type { DatabaseTarget } from '../database/database-url';
import type { SqlParameter } from '../connections/sql-database';
import { KIND_COLUMNS } from './setting-columns';
import { numbered, unchanged } from './sql-text';

/** What differs from database to database in the statements on tags; written with `?` for a parameter. */
export interface TagDialect {
  /** The statement as the driver wants it. */
  readonly text: (sql: string) => string;
  /** The condition for the row of exactly one tag, and its parameters. */
  readonly thisTag: string;
  readonly key: (tag: string) => SqlParameter[];
  readonly maxIdText: string;
  readonly lastIdText: string;
  readonly periodStartText: string;
  /** When a row was written last, in Unix seconds. */
  readonly updated: string;
  /** The clock of the database, in Unix seconds. */
  readonly now: string;
  /** A parameter that is a whole number. */
  readonly number: string;
  /** The function that gives the largest of its arguments. */
  readonly greatest: string;
  readonly forUpdate: string;
  /** tag, max_id, step, description, then the settings in the order of the columns, period_start; leaves a row that is there */
  readonly insertTag: string;
  /** Whether the answer to `insertTag` says that it was not there. */
  readonly inserted: (answer: unknown) => boolean;
  /** tag, max_id; the higher one stays */
  readonly rememberDeleted: string;
  /** tag; locks the record */
  readonly deleted: string;
  /** tag, max_id: true while no deleted tag of the name had come further */
  readonly notDeletedAbove: string;
}

const INSERTED = `biz_tag, max_id, step, description, max_step, last_id, ${KIND_COLUMNS}, period_start`;

const SQLITE: TagDialect = {
  text: unchanged,
  thisTag: 'biz_tag = ?',
  key: (tag) => [tag],
  maxIdText: 'CAST(CAST(COALESCE(max_id, 0) AS INTEGER) AS TEXT)',
  lastIdText: 'CAST(last_id AS TEXT)',
  periodStartText: 'CAST(period_start AS TEXT)',
  updated: "CAST(strftime('%s', update_time) AS INTEGER)",
  now: "CAST(strftime('%s', 'now') AS INTEGER)",
  number: '?',
  greatest: 'MAX',
  forUpdate: '',
  insertTag: `INSERT INTO leaf_alloc (${INSERTED}) VALUES (?, ?, ?, NULLIF(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (biz_tag) DO NOTHING RETURNING 1 AS inserted`,
  inserted: (answer) => (answer as unknown[]).length > 0,
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id) VALUES (?, ?)
    ON CONFLICT (biz_tag) DO UPDATE SET max_id = MAX(max_id, EXCLUDED.max_id)`,
  deleted: 'SELECT CAST(max_id AS TEXT) AS max_id FROM leaf_deleted_tag WHERE biz_tag = ?',
  notDeletedAbove:
    'NOT EXISTS (SELECT 1 FROM leaf_deleted_tag WHERE leaf_deleted_tag.biz_tag = ? AND leaf_deleted_tag.max_id > ?)',
};

const POSTGRES: TagDialect = {
  ...SQLITE,
  text: numbered,
  maxIdText: 'COALESCE(max_id, 0)::text',
  lastIdText: 'last_id::text',
  periodStartText: 'period_start::text',
  updated: "EXTRACT(EPOCH FROM update_time AT TIME ZONE current_setting('TimeZone'))",
  now: 'EXTRACT(EPOCH FROM CURRENT_TIMESTAMP)',
  number: '?::bigint',
  greatest: 'GREATEST',
  forUpdate: 'FOR UPDATE',
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id) VALUES (?, ?)
    ON CONFLICT (biz_tag) DO UPDATE SET max_id = GREATEST(leaf_deleted_tag.max_id, EXCLUDED.max_id)`,
  deleted: 'SELECT max_id::text FROM leaf_deleted_tag WHERE biz_tag = ? FOR UPDATE',
};

const MYSQL: TagDialect = {
  text: unchanged,
  // The collation of an existing table may hold `Order` equal to `order`: the key finds the row, the bytes decide.
  thisTag: 'biz_tag = ? AND CAST(biz_tag AS BINARY) = CAST(? AS BINARY)',
  key: (tag) => [tag, tag],
  maxIdText: 'CAST(COALESCE(max_id, 0) AS CHAR)',
  lastIdText: 'CAST(last_id AS CHAR)',
  periodStartText: 'CAST(period_start AS CHAR)',
  updated: 'UNIX_TIMESTAMP(update_time)',
  now: 'UNIX_TIMESTAMP()',
  number: '?',
  greatest: 'GREATEST',
  forUpdate: 'FOR UPDATE',
  insertTag: `INSERT IGNORE INTO leaf_alloc (${INSERTED}) VALUES (?, ?, ?, NULLIF(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  inserted: (answer) => (answer as { readonly affectedRows: number }).affectedRows > 0,
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id) VALUES (?, ?)
    ON DUPLICATE KEY UPDATE max_id = GREATEST(max_id, VALUES(max_id))`,
  // The column is ASCII, and cannot be compared with a name that is not.
  deleted:
    'SELECT CAST(max_id AS CHAR) AS max_id FROM leaf_deleted_tag WHERE biz_tag = CONVERT(? USING ascii) FOR UPDATE',
  notDeletedAbove: `NOT EXISTS (SELECT 1 FROM leaf_deleted_tag
    WHERE leaf_deleted_tag.biz_tag = CONVERT(? USING ascii) AND leaf_deleted_tag.max_id > ?)`,
};

export const TAG_DIALECTS: Readonly<Record<DatabaseTarget['dialect'], TagDialect>> = {
  sqlite: SQLITE,
  mysql: MYSQL,
  postgres: POSTGRES,
};
