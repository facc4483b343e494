import type { Statement } from '../connections/sql-database';

/**
 * SQL: the members of the Galera cluster as this node sees them; NULL without any. The ID of a member changes whenever it
 * starts: its first part is that of the node, its fourth part counts the starts. The list has room for nine members; a
 * longer one is cut, which leads to unnecessary gaps at most.
 */
const MEMBERS = `(SELECT LEFT(GROUP_CONCAT(CONCAT(LEFT(node_uuid, 8), SUBSTRING(node_uuid, 20, 4))
  ORDER BY node_uuid SEPARATOR ' '), 128) FROM mysql.wsrep_cluster_members)`;

/** The members that were last seen; the record of the database server has the ID 1. */
const RECORDED = 'SELECT server FROM leaf_segment_server WHERE id = 2';

/** SQL: the members are those of the record. */
export const SAME_MEMBERS = `(CAST((${RECORDED}) AS BINARY) <=> CAST(${MEMBERS} AS BINARY))`;

/** @throws Error of the driver when this user cannot read the members, or the version of Galera does not list them */
export async function askMembers(statement: Statement): Promise<string | undefined> {
  const [row] = await statement<{ members: string | null }[]>(`SELECT ${MEMBERS} AS members`);
  return row?.members ?? undefined;
}

/**
 * Records the members, in the transaction that has locked the record of the server.
 *
 * A cluster continues only with a majority of its members, so that each group that ever took writes shares a member with
 * the next one. If most recorded members have been up since, the cluster has all its commits. Otherwise it was started
 * anew, perhaps from a node that was not the last one.
 *
 * @param always whether to record them although the cluster may lack commits
 * @returns false if it may
 */
export async function followMembers(statement: Statement, always: boolean): Promise<boolean> {
  const members = (await askMembers(statement)) ?? '';
  const [record] = await statement<{ server: string }[]>(`${RECORDED} FOR UPDATE`);
  const isWhole = record === undefined || isMajority(record.server, members);
  if (isWhole || always) {
    const sql = `INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (2, ?, 0)
      ON DUPLICATE KEY UPDATE server = VALUES(server)`;
    await statement(sql, [members]);
  }
  return isWhole;
}

/** Whether more than half of the recorded members are among the present ones. */
function isMajority(recorded: string, present: string): boolean {
  const now = new Set(present.split(' '));
  const before = recorded.split(' ');
  return 2 * before.filter((member) => now.has(member)).length > before.length;
}
