import { LeafError } from '@leaf-ids/core';
import type { Statement } from '../connections/sql-database';

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
export async function askNode(statement: Statement): Promise<string> {
  const [row] = await statement<{ node: string | null; name: string }[]>(
    `SELECT ${NODE} AS node, @@global.server_id AS name`,
  );
  if (row !== undefined && row.node !== null) return row.node;
  const message = `The database server with server_id ${row?.name ?? ''} has wsrep_cluster_address set, but wsrep_on is OFF: other nodes do not see its writes, and IDs could be duplicated. Set wsrep_on=ON. To use the server without a cluster, set wsrep_cluster_address to an empty string.`;
  throw new LeafError('LEAF_STORE_UNAVAILABLE', message, { cause: new Error(message), retryAfterMs: 1000 });
}
