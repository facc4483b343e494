import { type PostgresServer, startPostgres, startStandby } from './postgres';
import type { DatabasePair } from './database-pair';
import { joined, ServerPair } from './server-pair';
import { until } from '../until';

interface PairOptions {
  readonly synchronous: boolean;
  /** The folder of the programs; left out: those of the system. */
  readonly programs?: string;
}

/**
 * A primary and a streaming standby. With `synchronous` a commit returns only after the standby has flushed it; without,
 * a kill loses commits in flight.
 */
export async function startPostgresPair({ synchronous, programs }: PairOptions): Promise<PostgresPair> {
  return joined(new PostgresPair(await startPostgres(programs), synchronous));
}

export class PostgresPair extends ServerPair<PostgresServer> implements DatabasePair {
  constructor(
    primary: PostgresServer,
    private readonly synchronous: boolean,
  ) {
    super(primary);
  }

  async waitForReplica(): Promise<void> {
    const { rows } = await this.primary.query('SELECT pg_current_wal_lsn() AS position');
    const { position } = rows[0] as { position: string };
    await until(`replica at ${position}`, () =>
      holds(this.replica, `pg_last_wal_replay_lsn() >= '${position}'::pg_lsn`),
    );
  }

  async stopReplication(): Promise<void> {
    if (this.synchronous) await setSynchronous(this.primary, false);
    await this.replica.query("ALTER SYSTEM SET primary_conninfo = ''");
    await this.replica.query('SELECT pg_reload_conf()');
    await until('end of the stream', () => holds(this.replica, 'NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)'));
  }

  async promote(): Promise<void> {
    const { replica } = this;
    // A copy of the primary has this setting too, and would wait at each commit for a standby that it does not have.
    await setSynchronous(replica, false);
    if (!(await holds(replica, 'pg_promote()'))) throw new Error('The standby was not promoted in time');
    this.exchange();
  }

  async rejoin(): Promise<void> {
    await this.dropGone();
    this.standby = await startStandby(this.primary);
    if (this.synchronous) await setSynchronous(this.primary, true);
    const state = this.synchronous ? 'sync' : 'async';
    await until('streaming standby', () =>
      holds(
        this.primary,
        `EXISTS (SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '${state}' AND application_name = 'walreceiver')`,
      ),
    );
    await this.waitForReplica();
  }
}

/** Whether commits wait for a standby. */
async function setSynchronous(server: PostgresServer, wanted: boolean): Promise<void> {
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${wanted ? '*' : ''}'`);
  await server.query('SELECT pg_reload_conf()');
}

async function holds(server: PostgresServer, condition: string): Promise<boolean> {
  const { rows } = await server.query(`SELECT ${condition} AS holds`);
  return (rows[0] as { holds: boolean | null } | undefined)?.holds === true;
}
