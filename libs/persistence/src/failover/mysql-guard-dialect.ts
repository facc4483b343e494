import type { GuardDialect, ServerIdentity } from './failover-guard';
import type { Statement } from '../sql-database';

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}

const VARIABLES = ['server_id', 'server_uuid', 'wsrep_on', 'group_replication_group_name', 'tidb_server_memory_limit'];

/** MySQL tells servers apart by a UUID; MariaDB has none, but replication demands that their `server_id` differ. */
async function askIdentity(statement: Statement): Promise<ServerIdentity> {
  const names = VARIABLES.map((name) => `'${name}'`).join(', ');
  const rows = await statement<Variable[]>(`SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names})`);
  const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  const uuid = values.get('server_uuid');
  const expression = uuid === undefined ? "CONCAT('server_id ', @@global.server_id)" : '@@global.server_uuid';
  const cluster = clusterOf(values, expression);
  return {
    server: uuid ?? `server_id ${values.get('server_id') ?? ''}`,
    expression,
    multiPrimary: cluster !== undefined,
    origin: cluster ?? expression,
  };
}

/**
 * SQL that gives the name of a cluster whose nodes are all current; undefined where there is none. An asynchronous
 * replica of a Galera cluster has its name, too, but is not part of it.
 */
function clusterOf(values: ReadonlyMap<string, string>, server: string): string | undefined {
  if (values.get('wsrep_on') === 'ON') {
    return `IF(@@global.wsrep_on, CONCAT('galera ', @@global.wsrep_cluster_name), ${server})`;
  }
  if ((values.get('group_replication_group_name') ?? '') !== '') return '@@global.group_replication_group_name';
  return values.has('tidb_server_memory_limit') ? "'tidb'" : undefined;
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
      9223372036854775807 - max_id)
    WHERE max_id > 0 AND biz_tag > ? AND biz_tag <= COALESCE(?, biz_tag)`,
};
