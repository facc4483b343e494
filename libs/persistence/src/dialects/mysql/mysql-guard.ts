import { LeafError } from '@leaf-ids/core';
import type { Statement } from '../../connections/sql-database';
import type { DatabaseIdentity, GuardDialect } from '../../failover/failover-guard';
import { faultBeneath } from '../../connections/database-faults';
import { type ClusterMembers, GALERA_MEMBERS, GROUP_MEMBERS } from './cluster-members';
import { mysqlFault } from './mysql-session';

/** SQL: the configured group; '' without one. Every user can read it, even when the plugin is not installed. */
const CONFIGURED_GROUP = `COALESCE((SELECT variable_value FROM performance_schema.global_variables
  WHERE variable_name = 'group_replication_group_name'), '')`;

/**
 * SQL: the UUID of a server without Group Replication; NULL once a group is configured. The group is looked up once per
 * connection, because a member can only start outside its group by a restart, which closes all connections.
 * `@leaf_server` must contain the result of the previous evaluation on the connection.
 */
export const STANDALONE = `IF(@leaf_server <=> @@global.server_uuid, @@global.server_uuid,
  IF(${CONFIGURED_GROUP} = '', @@global.server_uuid, NULL))`;

/**
 * SQL: the group that this server is an ONLINE member of; NULL outside a group. Each bootstrap of the group changes the
 * first part of the view ID, because a group that was restarted from one member may lack commits of the others.
 */
export const MEMBERSHIP = `(SELECT CONCAT('group ', SUBSTRING_INDEX(NULLIF(stats.view_id, ''), ':', 1))
  FROM performance_schema.replication_group_members AS member
  JOIN performance_schema.replication_group_member_stats AS stats USING (channel_name, member_id)
  WHERE member.member_id = @@global.server_uuid AND member.member_state = 'ONLINE')`;

interface SchemaMember {
  readonly member_host: string;
  readonly member_port: number;
  readonly here: number | string;
}

/** The member that changes the schema: the primary with the lowest ID; in single-primary mode, the only primary. */
const SCHEMA_MEMBER = `SELECT member_host, member_port, member_id = @@global.server_uuid AS here
  FROM performance_schema.replication_group_members
  WHERE member_state = 'ONLINE' AND member_role = 'PRIMARY' ORDER BY member_id LIMIT 1`;

/**
 * The value of {@link MEMBERSHIP} on a server that has a group configured.
 *
 * @throws LeafError `LEAF_STORE_UNAVAILABLE` when the server is not an ONLINE member, or this user cannot read the
 *   state
 */
async function askMembership(statement: Statement): Promise<string> {
  const sql = `SELECT ${MEMBERSHIP} AS membership, @@global.server_uuid AS server`;
  const [row] = await readable(statement<{ membership: string | null; server: string }[]>(sql));
  if (row !== undefined && row.membership !== null) return row.membership;
  throw unavailable(
    `The database server ${row?.server ?? ''} is configured for Group Replication but is not an ONLINE member of its group: other members do not see its writes, and IDs could be duplicated. Run START GROUP_REPLICATION on it, and set group_replication_start_on_boot=ON. To use the server without a group, run UNINSTALL PLUGIN group_replication.`,
  );
}

/**
 * The member that may change the schema: concurrent changes on two members cause errors on the others.
 *
 * @returns undefined when it is this member, otherwise `host:port` of the member
 */
export async function otherSchemaMember(statement: Statement): Promise<string | undefined> {
  const [member] = await readable(statement<SchemaMember[]>(SCHEMA_MEMBER));
  if (member === undefined || Number(member.here) === 1) return undefined;
  return `${member.member_host}:${member.member_port}`;
}

async function readable<Rows>(rows: Promise<Rows>): Promise<Rows> {
  try {
    return await rows;
  } catch (error) {
    if (faultBeneath(error, mysqlFault)?.byHand !== true) throw error;
    throw unavailable(
      'The state of Group Replication cannot be read. Grant the user of Leaf SELECT on performance_schema.replication_group_members and performance_schema.replication_group_member_stats.',
      error,
    );
  }
}

/** The worker registry reports the cause, the segments report the message. */
function unavailable(message: string, cause?: unknown): LeafError {
  return new LeafError('LEAF_STORE_UNAVAILABLE', message, {
    cause: new Error(message, { cause }),
    retryAfterMs: 1000,
  });
}

/** Begins the name of a cluster. */
const GALERA = 'galera ';

/**
 * SQL: the name of the cluster when the session replicates, the `server_id` of a server without a cluster, or NULL for
 * a node outside its cluster. An asynchronous replica also has the cluster name, but no cluster address.
 */
export const NODE = `IF(@@global.wsrep_on AND @@session.wsrep_on, CONCAT('${GALERA}', @@global.wsrep_cluster_name),
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

/** The identity of a Galera node, or of a server without a cluster. */
async function askMariadb(statement: Statement): Promise<DatabaseIdentity> {
  const server = await askNode(statement);
  if (!server.startsWith(GALERA) || !(await hasMembers(statement))) return { server, expression: NODE };
  return followed(server, NODE, GALERA_MEMBERS);
}

/** The identity of a cluster: NULL when its members are not those of the record. */
function followed(server: string, expression: string, { same, follow }: ClusterMembers): DatabaseIdentity {
  return { server, expression: `IF(${same}, ${expression}, NULL)`, follow };
}

/** False when this user has no right to read them. */
async function hasMembers(statement: Statement): Promise<boolean> {
  try {
    return (await GALERA_MEMBERS.ask(statement)) !== undefined;
  } catch (error) {
    if (faultBeneath(error, mysqlFault)?.byHand !== true) throw error;
    return false;
  }
}

/** SQL that names the server, for the worker registry: its nodes are one server, whichever of them are up. */
export async function askOrigin(statement: Statement): Promise<string> {
  const { server, expression, follow } = await askIdentity(statement);
  if (follow === undefined) return expression;
  return server.startsWith(GALERA) ? NODE : MEMBERSHIP;
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
    return followed(await askMembership(statement), MEMBERSHIP, GROUP_MEMBERS);
  }
  const uuid = values.get('server_uuid');
  if (uuid !== undefined) return { server: uuid, expression: STANDALONE };
  if (values.has('wsrep_on')) return askMariadb(statement);
  return {
    server: `server_id ${values.get('server_id') ?? ''}`,
    expression: "CONCAT('server_id ', @@global.server_id)",
  };
}

export const MYSQL_GUARD: GuardDialect = {
  askIdentity,
  insertRecord: 'INSERT IGNORE INTO leaf_segment_server (id, server, largest_step) VALUES (1, ?, ?)',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
  database: 'DATABASE()',
};
