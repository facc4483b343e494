import { LeafError } from '@leaf-ids/core';
import { faultBeneath } from '../connections/database-faults';
import type { Statement } from '../connections/sql-database';
import { mysqlFault } from './mysql-faults';

/** SQL: the configured group, '' where there is none. Every user may read it, whether the plugin is installed or not. */
const CONFIGURED_GROUP = `COALESCE((SELECT variable_value FROM performance_schema.global_variables
  WHERE variable_name = 'group_replication_group_name'), '')`;

/**
 * SQL: the UUID of a server without Group Replication; NULL once a group is configured. Looked up once per connection:
 * on a member that a restart has put outside of its group, every connection is a new one. Needs `@leaf_server` to hold
 * the result of the last evaluation on the connection.
 */
export const STANDALONE = `IF(@leaf_server <=> @@global.server_uuid, @@global.server_uuid,
  IF(${CONFIGURED_GROUP} = '', @@global.server_uuid, NULL))`;

/**
 * SQL: the group that this server is an ONLINE member of; NULL outside of a group. The first part of the view ID differs
 * each time the group is bootstrapped: a group that was restarted from one member may lack commits of the others.
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

/** The member that changes the schema: in single-primary mode the primary, else the primary with the lowest ID. */
const SCHEMA_MEMBER = `SELECT member_host, member_port, member_id = @@global.server_uuid AS here
  FROM performance_schema.replication_group_members
  WHERE member_state = 'ONLINE' AND member_role = 'PRIMARY' ORDER BY member_id LIMIT 1`;

/**
 * The value of {@link MEMBERSHIP} on a server that has a group configured.
 *
 * @throws LeafError `LEAF_STORE_UNAVAILABLE` when it is not an ONLINE member, or this user may not read that
 */
export async function askMembership(statement: Statement): Promise<string> {
  const sql = `SELECT ${MEMBERSHIP} AS membership, @@global.server_uuid AS server`;
  const [row] = await readable(statement<{ membership: string | null; server: string }[]>(sql));
  if (row !== undefined && row.membership !== null) return row.membership;
  throw unavailable(
    `The database server ${row?.server ?? ''} is configured for Group Replication but is not an ONLINE member of its group: other members do not see its writes, and IDs could be given twice. Run START GROUP_REPLICATION on it, and set group_replication_start_on_boot=ON. To use it without a group, run UNINSTALL PLUGIN group_replication.`,
  );
}

/**
 * Where the schema may be changed: changes on two members at once end in errors on the others.
 *
 * @returns undefined when it is this member, or `host:port` of the one that may
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

/** The registry shows the cause, the segments show the message. */
function unavailable(message: string, cause?: unknown): LeafError {
  return new LeafError('LEAF_STORE_UNAVAILABLE', message, {
    cause: new Error(message, { cause }),
    retryAfterMs: 1000,
  });
}
