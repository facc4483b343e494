import { LeafError } from '@leaf-ids/core';
import { faultBeneath } from '../connections/database-faults';
import type { Statement } from '../connections/sql-database';
import { mysqlFault } from './mysql-faults';

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
export async function askMembership(statement: Statement): Promise<string> {
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
