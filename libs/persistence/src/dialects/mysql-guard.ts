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
  insertRecord: 'INSERT IGNORE INTO leaf_segment_server (id, server, largest_step) VALUES (1, ?, ?)',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
};
