import { INSERT_ROW } from '../../stores/stored-tag';
import { type TagDialect, unchanged } from '../../stores/tag-dialect';
import type { WorkerDialect } from '../../stores/worker-row';
import { askOrigin } from './mysql-guard';

export const MYSQL_TAGS: TagDialect = {
  text: unchanged,
  // The collation of an existing table may treat `Order` as equal to `order`: find by key, then compare bytes.
  thisTag: 'biz_tag = ? AND CAST(biz_tag AS BINARY) = CAST(? AS BINARY)',
  key: (tag) => [tag, tag],
  bytesOf: (text) => `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`,
  decimal: (value) => `CAST(${value} AS CHAR)`,
  textOf: (value) => `CAST(${value} AS CHAR)`,
  updated: 'UNIX_TIMESTAMP(update_time)',
  now: 'UNIX_TIMESTAMP()',
  number: '?',
  greatest: 'GREATEST',
  least: 'LEAST',
  forUpdate: 'FOR UPDATE',
  insertTag: `INSERT IGNORE INTO ${INSERT_ROW}`,
  // IGNORE also for names that are not ASCII, which no tag has.
  insertMissing: (into) => `INSERT IGNORE ${into}`,
  inserted: (answer) => (answer as { readonly affectedRows: number }).affectedRows > 0,
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES (?, ?, ?)
    ON DUPLICATE KEY UPDATE max_id = GREATEST(max_id, VALUES(max_id))`,
  // The column is ASCII and cannot be compared with a non-ASCII name.
  deletedTag: 'leaf_deleted_tag.biz_tag = CONVERT(? USING ascii)',
};

export const MYSQL_WORKERS: WorkerDialect = {
  text: unchanged,
  askOrigin: (access) => askOrigin((sql) => access.run(sql, [])),
  // A session variable: statement-based replication copies its value instead of its expression.
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
  // UNIX_TIMESTAMP() is independent of the session time zone, in which one hour a year occurs twice.
  now: 'UNIX_TIMESTAMP() * 1000 + MICROSECOND(NOW(3)) DIV 1000',
};
