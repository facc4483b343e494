import type { GuardDialect, DatabaseIdentity } from '../failover/failover-guard';
import type { Statement } from '../connections/sql-database';

/** The cluster and its timeline; each promotion starts a new timeline. */
const EXPRESSION = `(SELECT system_identifier FROM pg_control_system())
  || ' timeline ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

async function askIdentity(statement: Statement): Promise<DatabaseIdentity> {
  const [row] = await statement<{ server: string }[]>(`SELECT ${EXPRESSION} AS server`);
  return { server: row?.server ?? '', expression: EXPRESSION };
}

export const POSTGRES_GUARD: GuardDialect = {
  askIdentity,
  insertRecord:
    'INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
};
