import { joined, ServerPair } from '../server-pair';
import { until } from '../../until';
import { type MysqlServer, startMysql } from './mysql';

/** Longer than any test, because a primary without replica must not fall back to asynchronous replication. */
const SEMI_SYNC_LIMIT_MS = 600_000;
const APPLY_LIMIT_S = 60;

/** A primary and a replica of MySQL, by GTID; `semiSync` as for MariaDB. */
export async function startMysqlPair({ semiSync }: { readonly semiSync: boolean }): Promise<MysqlPair> {
  return joined(new MysqlPair(await startReplicating(1), semiSync));
}

class MysqlPair extends ServerPair<MysqlServer> {
  constructor(
    primary: MysqlServer,
    private readonly semiSync: boolean,
  ) {
    super(primary);
  }

  async waitForReplica(): Promise<void> {
    const [row] = await this.primary.query('SELECT @@global.gtid_executed AS position');
    await applied(this.replica, String(row?.position));
  }

  async stopReplication(): Promise<void> {
    if (this.semiSync) await this.primary.query('SET GLOBAL rpl_semi_sync_source_enabled = OFF');
    await this.replica.query('STOP REPLICA');
  }

  async promote(): Promise<void> {
    const { replica } = this;
    await replica.query('STOP REPLICA IO_THREAD');
    const [status] = await replica.query('SHOW REPLICA STATUS');
    if (status?.Replica_SQL_Running === 'Yes') await applied(replica, String(status.Retrieved_Gtid_Set));
    await replica.query('STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF');
    this.exchange();
  }

  async rejoin(): Promise<void> {
    await this.dropGone();
    const { primary } = this;
    const [row] = await primary.query('SELECT @@server_id AS id');
    const replica = await startReplicating(Number(row?.id) + 1);
    this.standby = replica;
    await replica.query(
      `SET GLOBAL super_read_only = ON;
       SET GLOBAL rpl_semi_sync_replica_enabled = ${this.semiSync ? 'ON' : 'OFF'};
       CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${primary.port}, SOURCE_USER = 'root',
         SOURCE_CONNECT_RETRY = 1, SOURCE_AUTO_POSITION = 1;
       START REPLICA`,
    );
    await this.waitForReplica();
    if (this.semiSync) await primary.withoutCommits(() => this.turnSemiSyncOn());
  }

  /** Only once the replica is there, and only on the primary: whoever has it on waits for a replica at each commit. */
  private async turnSemiSyncOn(): Promise<void> {
    await this.primary.query(
      `SET GLOBAL rpl_semi_sync_source_timeout = ${SEMI_SYNC_LIMIT_MS}; SET GLOBAL rpl_semi_sync_source_enabled = ON`,
    );
    await this.replica.query('STOP REPLICA IO_THREAD; START REPLICA IO_THREAD');
    await until('semi-synchronous replica', async () => {
      const [source] = await this.primary.query("SHOW STATUS LIKE 'Rpl_semi_sync_source_clients'");
      const [replica] = await this.replica.query("SHOW STATUS LIKE 'Rpl_semi_sync_replica_status'");
      return Number(source?.Value) > 0 && replica?.Value === 'ON';
    });
  }
}

function startReplicating(serverId: number): Promise<MysqlServer> {
  return startMysql([
    `--server-id=${serverId}`,
    '--log-bin=bin',
    '--gtid-mode=ON',
    '--enforce-gtid-consistency=ON',
    '--plugin-load-add=semisync_source.so',
    '--plugin-load-add=semisync_replica.so',
  ]);
}

async function applied(replica: MysqlServer, position: string): Promise<void> {
  const [row] = await replica.query(`SELECT WAIT_FOR_EXECUTED_GTID_SET('${position}', ${APPLY_LIMIT_S}) AS late`);
  if (Number(row?.late) !== 0) throw new Error(`The replica did not come to ${position} within ${APPLY_LIMIT_S} s`);
}
