import { STANDARD_TAGS, type TagDialect } from '../stores/tag-dialect';
import type { WorkerDialect, Written } from '../stores/worker-row';
import { unchanged } from '../stores/sql-text';
import type { GuardDialect } from '../failover/failover-guard';

/** A file has no replicas: the record shows whether the file was replaced by an older one. */
export const SQLITE_GUARD: GuardDialect = {
  askIdentity: () => Promise.resolve({ server: 'sqlite', expression: "'sqlite'" }),
  insertRecord:
    'INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, ?, ?) ON CONFLICT (id) DO NOTHING',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1',
};

export const SQLITE_TAGS: TagDialect = {
  ...STANDARD_TAGS,
  text: unchanged,
  decimal: (value) => `CAST(CAST(${value} AS INTEGER) AS TEXT)`,
  textOf: (value) => `CAST(${value} AS TEXT)`,
  updated: "CAST(strftime('%s', update_time) AS INTEGER)",
  now: "CAST(strftime('%s', 'now') AS INTEGER)",
  number: '?',
  greatest: 'MAX',
  least: 'MIN',
  forUpdate: '',
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES (?, ?, ?)
    ON CONFLICT (biz_tag) DO UPDATE SET max_id = MAX(max_id, EXCLUDED.max_id)`,
};

export const SQLITE_WORKERS: WorkerDialect = {
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
