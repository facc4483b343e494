import { askMembership, MEMBERSHIP, STANDALONE } from './mysql-group-replication';
import { askNode, NODE } from './mysql-galera';
import type { Statement } from '../connections/sql-database';
import type { GuardDialect, DatabaseIdentity } from '../failover/failover-guard';

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}

const VARIABLES = ['server_id', 'server_uuid', 'wsrep_on', 'group_replication_group_name', 'tidb_server_memory_limit'];

/**
 * MySQL servers have a UUID. MariaDB servers have none, but replication requires each to have a different `server_id`.
 */
async function askIdentity(statement: Statement): Promise<DatabaseIdentity> {
  const names = VARIABLES.map((name) => `'${name}'`).join(', ');
  const rows = await statement<Variable[]>(`SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names})`);
  const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  if (values.has('tidb_server_memory_limit')) return { server: 'tidb', expression: "'tidb'" };
  if ((values.get('group_replication_group_name') ?? '') !== '') {
    return { server: await askMembership(statement), expression: MEMBERSHIP };
  }
  const uuid = values.get('server_uuid');
  if (uuid !== undefined) return { server: uuid, expression: STANDALONE };
  if (values.has('wsrep_on')) return { server: await askNode(statement), expression: NODE };
  return {
    server: `server_id ${values.get('server_id') ?? ''}`,
    expression: "CONCAT('server_id ', @@global.server_id)",
  };
}

export const MYSQL_GUARD: GuardDialect = {
  askIdentity,
  insertRecord: `INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, ?, ?)
    ON DUPLICATE KEY UPDATE largest_step = GREATEST(largest_step, VALUES(largest_step))`,
  lockRecord: 'SELECT server FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
  updateRecord: 'UPDATE leaf_segment_server SET server = ? WHERE id = 1',
  lastTag: 'SELECT biz_tag FROM leaf_alloc WHERE biz_tag > ? ORDER BY biz_tag LIMIT 1 OFFSET ?',
  moveDeletedTags: 'UPDATE leaf_deleted_tag SET max_id = max_id + LEAST(? * ?, 9223372036854775807 - max_id)',
  moveTags: `UPDATE leaf_alloc, (SELECT ? AS gap, ? AS largest) AS failover
    SET max_id = max_id + LEAST(
      gap * GREATEST(COALESCE(step, 0), COALESCE(max_step, 0), COALESCE(interleave_block, 0), largest),
      CASE WHEN biz_tag LIKE '%@%' OR reset_every IS NOT NULL
        THEN GREATEST(COALESCE(last_id, 9223372036854775806) + 1 - max_id, 0) ELSE 9223372036854775807 - max_id END)
    WHERE max_id > 0 AND biz_tag > ? AND biz_tag <= COALESCE(?, biz_tag)`,
};
