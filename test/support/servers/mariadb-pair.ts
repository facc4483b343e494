import { type MariadbServer, startMariadb } from './mariadb';
import type { DatabasePair } from './database-pair';
import { joined, ServerPair } from './server-pair';
import { until } from '../until';

/** Longer than any test, because a primary without replica must not fall back to asynchronous replication. */
const SEMI_SYNC_LIMIT_MS = 600_000;
const APPLY_LIMIT_S = 60;
const JOIN_ATTEMPTS = 15;
const JOIN_LIMIT_MS = 2_000;
const USER = 'replication';
/** Of a replica that is being made: it would pass over what once came from a server with its own server_id. */
const JOINING_ID = 99;

/**
 * A primary and a replica with GTIDs. With `semiSync` a commit returns only after the replica has received it; without,
 * a kill loses commits in flight.
 */
export async function startMariadbPair({ semiSync }: { semiSync: boolean }): Promise<MariadbPair> {
  const primary = await startReplicating(1);
  await primary.query(`CREATE USER ${USER}@'127.0.0.1'; GRANT REPLICATION SLAVE ON *.* TO ${USER}@'127.0.0.1'`);
  await primary.persist({ read_only: 0 });
  return joined(new MariadbPair(primary, semiSync));
}

export class MariadbPair extends ServerPair<MariadbServer> implements DatabasePair {
  constructor(
    primary: MariadbServer,
    private readonly semiSync: boolean,
  ) {
    super(primary);
  }

  async waitForReplica(): Promise<void> {
    const [row] = await this.primary.query('SELECT @@gtid_binlog_pos AS position');
    await applied(this.replica, String(row?.position));
  }

  async stopReplication(): Promise<void> {
    if (this.semiSync) await this.primary.query('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
    await this.replica.query('STOP SLAVE');
  }

  async promote(): Promise<void> {
    const { replica } = this;
    await replica.query('STOP SLAVE IO_THREAD');
    const [status] = await replica.query('SHOW SLAVE STATUS');
    // After stopReplication nobody applies what was received, and nothing was received that is not applied.
    if (status?.Slave_SQL_Running === 'Yes') await applied(replica, String(status.Gtid_IO_Pos));
    await replica.query('STOP SLAVE; RESET SLAVE ALL');
    await replica.persist({ read_only: 0 });
    this.exchange();
  }

  /** A primary that comes back does not wait for its replica until it is told to. */
  override async restart(): Promise<void> {
    await super.restart();
    if (this.semiSync && this.standby !== undefined) await this.primary.withoutCommits(() => this.turnSemiSyncOn());
  }

  /** The new replica has the server_id of the old primary, as when that machine returns. */
  async rejoin(): Promise<void> {
    await this.dropGone();
    const { primary } = this;
    const [row] = await primary.query('SELECT @@server_id AS id');
    const replica = await startReplicating(JOINING_ID);
    this.standby = replica;
    // It applies all that ever happened: not synced, that takes seconds in place of minutes.
    await replica.query(
      `SET GLOBAL sync_binlog = 0; SET GLOBAL innodb_flush_log_at_trx_commit = 0;
       SET GLOBAL rpl_semi_sync_slave_enabled = ${this.semiSync ? 'ON' : 'OFF'};
       CHANGE MASTER TO master_host = '127.0.0.1', master_port = ${primary.port}, master_user = '${USER}',
         master_connect_retry = 1, master_use_gtid = slave_pos;
       START SLAVE`,
    );
    await this.waitForReplica();
    await replica.query('STOP SLAVE');
    await replica.persist({
      server_id: Number(row?.id) === 1 ? 2 : 1,
      sync_binlog: 1,
      innodb_flush_log_at_trx_commit: 1,
    });
    await replica.query('START SLAVE');
    // A primary that begins to wait for its replica in the midst of commits is now and then stuck for good.
    if (this.semiSync) await primary.withoutCommits(() => this.turnSemiSyncOn());
  }

  /** Only once the replica is there, and only on the primary: whoever has it on waits for a replica at each commit. */
  private async turnSemiSyncOn(): Promise<void> {
    await this.primary.query(
      `SET GLOBAL rpl_semi_sync_master_timeout = ${SEMI_SYNC_LIMIT_MS};
       SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC`,
    );
    for (let attempt = 1; !(await this.joinSemiSync()); attempt++) {
      if (attempt === JOIN_ATTEMPTS) throw new Error(`No semi-synchronous replica: ${await this.describe()}`);
    }
  }

  /**
   * The replica asks for it when it connects; a connection that is made while another one ends may be cut with it, and
   * the primary then counts no replica until both have turned it off and on.
   */
  private async joinSemiSync(): Promise<boolean> {
    await this.replica.query('STOP SLAVE IO_THREAD; SET GLOBAL rpl_semi_sync_slave_enabled = OFF');
    await this.primary.query('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
    await this.primary.query('SET GLOBAL rpl_semi_sync_master_enabled = ON');
    await this.replica.query('SET GLOBAL rpl_semi_sync_slave_enabled = ON; START SLAVE IO_THREAD');
    const joined = async (): Promise<boolean> => {
      const [master] = await this.primary.query("SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'");
      const [slave] = await this.replica.query("SHOW STATUS LIKE 'Rpl_semi_sync_slave_status'");
      return Number(master?.Value) > 0 && slave?.Value === 'ON';
    };
    return until('semi-synchronous replica', joined, JOIN_LIMIT_MS).catch(() => false);
  }

  private async describe(): Promise<string> {
    const primary = await this.primary.query("SHOW STATUS LIKE 'Rpl_semi_sync_master%'");
    const slave = await this.replica.query("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_slave%'");
    return JSON.stringify({ primary, slave, replica: await this.replica.query('SHOW SLAVE STATUS') });
  }
}

function startReplicating(serverId: number): Promise<MariadbServer> {
  return startMariadb([
    `--server-id=${serverId}`,
    '--log-bin=bin',
    '--binlog-format=ROW',
    '--gtid-strict-mode=ON',
    '--log-slave-updates=ON',
    '--sync-binlog=1',
    '--read-only=ON',
  ]);
}

async function applied(replica: MariadbServer, position: string): Promise<void> {
  const [row] = await replica.query(`SELECT MASTER_GTID_WAIT('${position}', ${APPLY_LIMIT_S}) AS late`);
  if (Number(row?.late) !== 0) throw new Error(`The replica did not come to ${position} within ${APPLY_LIMIT_S} s`);
}
