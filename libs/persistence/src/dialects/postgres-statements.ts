import { STANDARD_TAGS, type TagDialect } from '../stores/tag-dialect';
import type { WorkerDialect, Written } from '../stores/worker-row';
import { numbered } from '../stores/sql-text';
import type { DatabaseIdentity, GuardDialect } from '../failover/failover-guard';
import type { Statement } from '../connections/sql-database';

/** The cluster and its timeline; each promotion starts a new timeline. */
const EXPRESSION = `(SELECT system_identifier FROM pg_control_system())
  || ' timeline ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

async function askIdentity(statement: Statement): Promise<DatabaseIdentity> {
  const [row] = await statement<{ server: string }[]>(`SELECT ${EXPRESSION} AS server`);
  return { server: row?.server ?? '', expression: EXPRESSION };
}

export const POSTGRES_GUARD: GuardDialect = {
  askIdentity,
  insertRecord:
    'INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
};

export const POSTGRES_TAGS: TagDialect = {
  ...STANDARD_TAGS,
  text: numbered,
  bytesOf: (text) => `${text} COLLATE "C"`,
  decimal: (value) => `(${value})::text`,
  textOf: (value) => `(${value})::text`,
  updated: "EXTRACT(EPOCH FROM update_time AT TIME ZONE current_setting('TimeZone'))",
  now: 'EXTRACT(EPOCH FROM CURRENT_TIMESTAMP)',
  number: '?::bigint',
  greatest: 'GREATEST',
  least: 'LEAST',
  forUpdate: 'FOR UPDATE',
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES (?, ?, ?)
    ON CONFLICT (biz_tag) DO UPDATE SET max_id = GREATEST(leaf_deleted_tag.max_id, EXCLUDED.max_id)`,
};

export const POSTGRES_WORKERS: WorkerDialect = {
  text: numbered,
  askOrigin: async (access) => (await POSTGRES_GUARD.askIdentity((sql) => access.run(sql, []))).expression,
  isOrigin: (origin) => `(${origin}) = ?`,
  integer: 'CAST(? AS bigint)',
  insert: 'INSERT',
  onConflict: 'ON CONFLICT DO NOTHING',
  write: async (access, { sql, parameters, key }) => {
    // The result of an UPDATE has a different shape than that of an INSERT; a SELECT makes both equal.
    const text = `WITH done AS (${sql} RETURNING ${key} AS written) SELECT written FROM done`;
    const rows = await access.run<Written[]>(numbered(text), [...parameters]);
    return rows.map(({ written }) => written);
  },
  zeroIsNext: false,
  // Two concurrent calls may leave the sequence too low by one: the next INSERT then conflicts, and the one after
  // succeeds.
  raiseNumbering: `SELECT setval(numbers, GREATEST(CAST(? AS bigint), COALESCE(pg_sequence_last_value(numbers), 1)))
    FROM (SELECT CAST(pg_get_serial_sequence('leaf_workerid_alloc', 'id') AS regclass) AS numbers) AS sequence`,
  now: 'EXTRACT(EPOCH FROM clock_timestamp()) * 1000',
};
