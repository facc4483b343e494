import type { GuardDialect, DatabaseIdentity } from '../failover/failover-guard';
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
  insertRecord: `INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, $1, $2)
    ON CONFLICT (id) DO UPDATE SET largest_step = GREATEST(leaf_segment_server.largest_step, EXCLUDED.largest_step)`,
  lockRecord: 'SELECT server FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
  updateRecord: 'UPDATE leaf_segment_server SET server = $1, update_time = CURRENT_TIMESTAMP WHERE id = 1',
  lastTag: 'SELECT biz_tag FROM leaf_alloc WHERE biz_tag > $1 ORDER BY biz_tag LIMIT 1 OFFSET $2',
  moveDeletedTags:
    'UPDATE leaf_deleted_tag SET max_id = max_id + LEAST($1::bigint * $2::bigint, 9223372036854775807 - max_id)',
  moveTags: `UPDATE leaf_alloc
    SET max_id = max_id + LEAST(
        $1::bigint * GREATEST(step, max_step, interleave_block, $2::bigint),
        CASE WHEN biz_tag LIKE '%@%' OR reset_every IS NOT NULL
          THEN GREATEST(COALESCE(last_id, 9223372036854775806) + 1 - max_id, 0) ELSE 9223372036854775807 - max_id END),
      update_time = CURRENT_TIMESTAMP
    WHERE max_id > 0 AND biz_tag > $3 AND biz_tag <= COALESCE($4, biz_tag)`,
};
