import type { Statement } from '../../connections/sql-database';

/** The members of a cluster that continues only with a majority of them, and the record of those that were last seen. */
export interface ClusterMembers {
  /** SQL: the members are those of the record. */
  readonly same: string;
  /** @throws Error of the driver when this user cannot read them */
  readonly ask: (statement: Statement) => Promise<string | undefined>;
  /**
   * Records the members, in the transaction that has locked the record of the server.
   *
   * Each group that ever took writes shares a member with the next one. If most recorded members are still in it, the
   * cluster has all its commits. Otherwise an administrator has started it anew, perhaps from a node that was not the last.
   *
   * @param always whether to record them although the cluster may lack commits
   * @returns false if it may
   */
  readonly follow: (statement: Statement, always: boolean) => Promise<boolean>;
}

/** The record of the database server has the ID 1. */
const RECORDED = 'SELECT server FROM leaf_segment_server WHERE id = 2';

/**
 * The ID of a Galera node changes whenever it starts, because it may start without its newest commits: its first part is
 * that of the node, its fourth part counts the starts.
 */
export const GALERA_MEMBERS = clusterMembers(
  'CONCAT(LEFT(node_uuid, 8), SUBSTRING(node_uuid, 20, 4))',
  'mysql.wsrep_cluster_members',
);

/** The ID of a member of Group Replication stays. A member that has commits of its own cannot join a group. */
export const GROUP_MEMBERS = clusterMembers(
  'LEFT(SHA2(member_id, 256), 12)',
  'performance_schema.replication_group_members',
);

/**
 * The list has room for nine members, the most of Group Replication; a longer one is cut, which leads to unnecessary gaps
 * at most.
 *
 * @param id SQL: 12 characters
 */
function clusterMembers(id: string, table: string): ClusterMembers {
  const members = `(SELECT LEFT(GROUP_CONCAT(${id} ORDER BY ${id} SEPARATOR ' '), 128) FROM ${table})`;
  const ask = async (statement: Statement): Promise<string | undefined> => {
    const [row] = await statement<{ members: string | null }[]>(`SELECT ${members} AS members`);
    return row?.members ?? undefined;
  };
  const follow = async (statement: Statement, always: boolean): Promise<boolean> => {
    const present = (await ask(statement)) ?? '';
    const [record] = await statement<{ server: string }[]>(`${RECORDED} FOR UPDATE`);
    const isWhole = record === undefined || isMajority(record.server, present);
    if (isWhole || always) {
      const sql = `INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (2, ?, 0)
        ON DUPLICATE KEY UPDATE server = VALUES(server)`;
      await statement(sql, [present]);
    }
    return isWhole;
  };
  return { same: `(CAST((${RECORDED}) AS BINARY) <=> CAST(${members} AS BINARY))`, ask, follow };
}

/** Whether more than half of the recorded members are among the present ones. */
function isMajority(recorded: string, present: string): boolean {
  const now = new Set(present.split(' '));
  const before = recorded.split(' ');
  return 2 * before.filter((member) => now.has(member)).length > before.length;
}
