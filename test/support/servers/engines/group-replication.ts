import type { ConnectionOptions } from 'mysql2/promise';
import { freePort } from '../../free-port';
import { until } from '../../until';
import { guarded } from '../private-server';
import { MysqlServer, mysqlFiles } from './mysql';
import { LOCAL, type NetworkHost, type PrivateNetwork } from './private-network';

const GROUP = '5ca1ab1e-0000-4000-8000-000000000001';
const MEMBERS = 3;

/** A member of a group, which joins it by itself when it is started again, if told to. */
export class Member extends MysqlServer {
  startOnBoot = false;
  /** Whether the plugin is installed; its options are ignored without it. */
  installed = false;

  constructor(
    override readonly host: string,
    /** Where it talks to its group. */
    readonly groupAddress: string,
    ...[directory, program, options]: ConstructorParameters<typeof MysqlServer>
  ) {
    super(directory, program, options);
  }

  protected override get admin(): Pick<ConnectionOptions, 'host' | 'port' | 'socketPath'> {
    return { socketPath: this.socket };
  }

  protected override command(): string[] {
    return [
      ...super.command(),
      `--report-port=${this.port}`,
      ...(this.installed ? ['--plugin-load-add=group_replication.so'] : []),
      `--loose-group-replication-start-on-boot=${this.startOnBoot ? 'ON' : 'OFF'}`,
    ];
  }

  async isOnline(members = MEMBERS): Promise<boolean> {
    const [row] = await this.query(
      "SELECT COUNT(*) AS online FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE'",
    );
    return Number(row?.online) === members;
  }

  /** @param first makes the group; the others join it */
  async join(first: boolean): Promise<void> {
    const bootstrap = (value: string): Promise<unknown> =>
      this.query(`SET GLOBAL group_replication_bootstrap_group = ${value}`);
    await this.query("CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'");
    if (first) await bootstrap('ON');
    await this.query('START GROUP_REPLICATION');
    if (first) await bootstrap('OFF');
  }
}

/** MySQL Group Replication: three members, every one of which takes writes; the first one may change the schema. */
export class ReplicationGroup {
  private constructor(readonly members: Member[]) {}

  /** Members that are not started yet. */
  static async prepare(network?: PrivateNetwork): Promise<ReplicationGroup> {
    const hosts = network?.hosts ?? Array.from({ length: MEMBERS }, () => LOCAL);
    const places = await Promise.all(hosts.map(async (host) => ({ ...host, port: await freePort() })));
    return new ReplicationGroup(await Promise.all(places.map((_, index) => makeMember(places, index))));
  }

  /** @param network its hosts get a member each; left out: all members are on this host */
  static async start(network?: PrivateNetwork): Promise<ReplicationGroup> {
    const group = await ReplicationGroup.prepare(network);
    const { members } = group;
    for (const member of members) member.installed = true;
    try {
      await Promise.all(members.map((member) => member.start()));
      await group.sortByUuid();
      for (const [index, member] of members.entries()) await member.join(index === 0);
      for (const member of members) member.startOnBoot = true;
      await group.complete();
      return group;
    } catch (error) {
      await group.stop();
      throw error;
    }
  }

  /** Resolves when every member sees all of them ONLINE. */
  async complete(): Promise<void> {
    for (const member of this.members) await until('members that are ONLINE', () => member.isOnline());
  }

  /** @returns the URL of the database on each member */
  async createDatabase(): Promise<string[]> {
    const [first, ...others] = this.members;
    const url = (await first?.createDatabase()) ?? '';
    const name = new URL(url).pathname.slice(1);
    for (const member of others) {
      await until('database', async () => (await member.query(`SHOW DATABASES LIKE '${name}'`)).length > 0);
    }
    return this.members.map(({ host, port }) => `mysql://root@${host}:${port}/${name}`);
  }

  private async sortByUuid(): Promise<void> {
    const uuids = new Map<Member, string>();
    for (const member of this.members) {
      const [row] = await member.query('SELECT @@server_uuid AS uuid');
      uuids.set(member, String(row?.uuid));
    }
    this.members.sort((a, b) => ((uuids.get(a) ?? '') < (uuids.get(b) ?? '') ? -1 : 1));
  }

  async stop(): Promise<void> {
    for (const member of this.members) await member.stop();
  }
}

interface Place extends NetworkHost {
  readonly port: number;
}

async function makeMember(places: readonly Place[], index: number): Promise<Member> {
  const { address, words: host, port } = places[index]!;
  const { directory, words } = await mysqlFiles();
  const settings = {
    'group-name': GROUP,
    'local-address': `${address}:${port}`,
    'group-seeds': places.map((place) => `${place.address}:${place.port}`).join(','),
    'single-primary-mode': 'OFF',
    'enforce-update-everywhere-checks': 'ON',
  };
  return new Member(
    address,
    `${address}:${port}`,
    directory,
    [...host, ...(await guarded(words))],
    [
      `--server-id=${index + 1}`,
      '--log-bin=bin',
      '--gtid-mode=ON',
      '--enforce-gtid-consistency=ON',
      `--report-host=${address}`,
      ...Object.entries(settings).map(([name, value]) => `--loose-group-replication-${name}=${value}`),
    ],
  );
}
