import { LeafError } from '@leaf-ids/core';
import type { Statement } from '../connections/sql-database';

/**
 * SQL: the cluster of a node whose session replicates, the `server_id` of a server without a cluster; NULL for a node
 * outside of its cluster. An asynchronous replica of a cluster has its name, too, but no address of it.
 */
export const NODE = `IF(@@global.wsrep_on AND @@session.wsrep_on, CONCAT('galera ', @@global.wsrep_cluster_name),
  IF(COALESCE(@@global.wsrep_cluster_address, '') = '', CONCAT('server_id ', @@global.server_id), NULL))`;

/**
 * The value of {@link NODE}.
 *
 * @throws LeafError `LEAF_STORE_UNAVAILABLE` for a node outside of its cluster
 */
export async function askNode(statement: Statement): Promise<string> {
  const [row] = await statement<{ node: string | null; name: string }[]>(
    `SELECT ${NODE} AS node, @@global.server_id AS name`,
  );
  if (row !== undefined && row.node !== null) return row.node;
  const message = `The database server with server_id ${row?.name ?? ''} has wsrep_cluster_address set, but wsrep_on is OFF: other nodes do not see its writes, and IDs could be given twice. Set wsrep_on=ON. To use it without a cluster, empty wsrep_cluster_address.`;
  throw new LeafError('LEAF_STORE_UNAVAILABLE', message, { cause: new Error(message), retryAfterMs: 1000 });
}
