import type { GuardDialect, ServerIdentity } from './failover-guard';
import type { Statement } from '../sql-database';

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}

/** MySQL tells servers apart by a UUID; MariaDB has none, but replication demands that their `server_id` differ. */
async function askIdentity(statement: Statement): Promise<ServerIdentity> {
  const rows = await statement<Variable[]>(
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_id', 'server_uuid', 'wsrep_on', 'group_replication_group_name', 'tidb_server_memory_limit')",
  );
  const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  const uuid = values.get('server_uuid');
  return {
    server: uuid ?? `server_id ${values.get('server_id') ?? ''}`,
    expression: uuid === undefined ? "CONCAT('server_id ', @@global.server_id)" : '@@global.server_uuid',
    multiPrimary:
      values.get('wsrep_on') === 'ON' ||
      (values.get('group_replication_group_name') ?? '') !== '' ||
      values.has('tidb_server_memory_limit'),
  };
}

export const MYSQL_GUARD: GuardDialect = {
  askIdentity,
  insertRecord: 'INSERT IGNORE INTO leaf_segment_server (id, server, largest_step) VALUES (1, ?, ?)',
  raiseLargest: 'UPDATE leaf_segment_server SET largest_step = ? WHERE id = 1 AND largest_step < ?',
  lockRecord: 'SELECT server, largest_step FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
  updateRecord: 'UPDATE leaf_segment_server SET server = ?, largest_step = ? WHERE id = 1',
  lastTag: 'SELECT biz_tag FROM leaf_alloc WHERE biz_tag > ? ORDER BY biz_tag LIMIT 1 OFFSET ?',
  moveDeletedTags: 'UPDATE leaf_deleted_tag SET max_id = max_id + LEAST(? * ?, 9223372036854775807 - max_id)',
  moveTags: `UPDATE leaf_alloc, (SELECT ? AS gap, ? AS largest) AS failover
    SET max_id = max_id + LEAST(gap * GREATEST(COALESCE(step, 0), largest), 9223372036854775807 - max_id)
    WHERE max_id > 0 AND biz_tag > ? AND biz_tag <= COALESCE(?, biz_tag)`,
};
