import { LeafError } from '@leaf-ids/core';
import type { Statement } from '../connections/sql-database';
import type { DatabaseIdentity, GuardDialect } from '../failover/failover-guard';
import { askMembership, MEMBERSHIP, STANDALONE } from './mysql-group-replication';

/**
 * SQL: the name of the cluster when the session replicates, the `server_id` of a server without a cluster, or NULL for
 * a node outside its cluster. An asynchronous replica also has the cluster name, but no cluster address.
 */
export const NODE = `IF(@@global.wsrep_on AND @@session.wsrep_on, CONCAT('galera ', @@global.wsrep_cluster_name),
  IF(COALESCE(@@global.wsrep_cluster_address, '') = '', CONCAT('server_id ', @@global.server_id), NULL))`;

/**
 * The value of {@link NODE}.
 *
 * @throws LeafError `LEAF_STORE_UNAVAILABLE` for a node outside its cluster
 */
async function askNode(statement: Statement): Promise<string> {
  const [row] = await statement<{ node: string | null; name: string }[]>(
    `SELECT ${NODE} AS node, @@global.server_id AS name`,
  );
  if (row !== undefined && row.node !== null) return row.node;
  const message = `The database server with server_id ${row?.name ?? ''} has wsrep_cluster_address set, but wsrep_on is OFF: other nodes do not see its writes, and IDs could be duplicated. Set wsrep_on=ON. To use the server without a cluster, set wsrep_cluster_address to an empty string.`;
  throw new LeafError('LEAF_STORE_UNAVAILABLE', message, { cause: new Error(message), retryAfterMs: 1000 });
}

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
