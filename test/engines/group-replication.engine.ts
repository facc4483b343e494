import { systemRandom } from '@leaf-ids/core/internal';
import {
  createSegmentStore,
  FIXED_WORKERS,
  type LeafDataSource,
  openDatabase,
  parseDatabaseUrl,
  SqlWorkerStore,
} from '@leaf-ids/persistence';
import { clock, connect, FAILOVER, lazily, PATIENT } from '../support/contract/sql-stores';
import { type Member, ReplicationGroup } from '../support/servers/engines/group-replication';
import { until } from '../support/until';
import { type Engine, engineSuite } from './engine-suite';
import type { FleetLoad } from './fleet-load';
import { TAG } from './fleet-load';
import { versionOf } from './single-server';

interface Group extends Engine {
  readonly group: ReplicationGroup;
}

async function start(): Promise<Group> {
  const group = await ReplicationGroup.start();
  return {
    group,
    version: await versionOf(group.members[0]!),
    createDatabase: () => group.createDatabase(),
    stop: () => group.stop(),
  };
}

async function restart({ group }: Group, index: number): Promise<void> {
  await group.members[index]!.restart();
  await group.complete();
}

/** After a kill and a restart, it accepts writes that its group never receives. */
async function restartOutside(member: Member): Promise<void> {
  member.startOnBoot = false;
  await member.restart();
  member.startOnBoot = true;
}

async function rejoin(group: ReplicationGroup, member: Member): Promise<void> {
  await member.join(false);
  await group.complete();
}

const OUTSIDE = 'not an ONLINE member';

engineSuite({
  name: 'MySQL Group Replication, 3 primaries',
  start,
  disturbances: [
    ...[0, 1, 2].map((index) => ({
      name: `kill -9 and restart of member ${index + 1}`,
      disturb: (group: Group) => restart(group, index),
    })),
    {
      name: 'kill -9 of member 2 and a restart outside of its group',
      disturb: async ({ group }: Group, load: FleetLoad): Promise<void> => {
        const member = group.members[1]!;
        await restartOutside(member);
        await until('refusals', () => load.logOf(1).includes(OUTSIDE));
        await rejoin(group, member);
      },
    },
  ],
});

describe('a group', () => {
  let group: ReplicationGroup;
  let urls: string[];
  const opened: LeafDataSource[] = [];
  beforeAll(async () => (group = await ReplicationGroup.start()));
  afterAll(() => group.stop());
  beforeEach(async () => {
    urls = await group.createDatabase();
    await open(urls[0]!);
  });
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.destroy();
  });

  async function open(url: string): Promise<LeafDataSource> {
    const database = await connect(parseDatabaseUrl(url));
    opened.push(database);
    return database;
  }

  it('gives no IDs and no worker IDs on a member outside of it, until the member is back', async () => {
    const member = group.members[1]!;
    const database = await open(urls[1]!);
    const store = createSegmentStore(database, FAILOVER);
    const workers = new SqlWorkerStore(lazily(database.target), FIXED_WORKERS);
    const registry = await workers.readRegistry();
    const first = await store.allocate(TAG, 10);
    await restartOutside(member);
    const message = expect.stringContaining(OUTSIDE) as string;
    const record = { instance: { ip: 'a', port: 1 }, leaseId: 'f00', write: 1, ceiling: 1, free: false };
    await until('a connection', () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    );
    await expect(store.allocate(TAG, 10)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE', message });
    const unreachable = { code: 'LEAF_REGISTRY_UNREACHABLE', cause: { message } };
    await expect(workers.readRegistry()).rejects.toMatchObject(unreachable);
    await expect(workers.create(registry, record, 7)).rejects.toMatchObject(unreachable);
    await rejoin(group, member);
    expect((await store.allocate(TAG, 10)).from).toBeGreaterThan(first.to);
    expect(await workers.create(registry, record, 7)).toBeDefined();
    await workers.close();
  });

  it('names the member that changes the schema', async () => {
    const far = await open(urls[2]!);
    await opened[0]!.query('DROP TABLE leaf_migrations');
    const tables = (): Promise<unknown[]> => far.query("SHOW TABLES LIKE 'leaf_migrations'");
    await until('the drop', async () => (await tables()).length === 0);
    const { target } = far;
    const onCloseProblem = (): void => undefined;
    const opening = openDatabase(
      { target, migrate: true, attempts: 1, onCloseProblem, limits: PATIENT },
      clock,
      systemRandom,
    );
    await expect(opening).rejects.toMatchObject({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining(`:${group.members[0]!.port}`) as string,
    });
  });

  it('names the rights that are missing', async () => {
    const [name = ''] = new URL(urls[0]!).pathname.split('/').slice(1);
    await group.members[0]!.query(
      `CREATE USER limited@'127.0.0.1'; GRANT SELECT, INSERT, UPDATE, DELETE ON ${name}.* TO limited@'127.0.0.1'`,
    );
    const limited = await open(urls[0]!.replace('//root@', '//limited@'));
    const store = createSegmentStore(limited, FAILOVER);
    await expect(store.allocate(TAG, 10)).rejects.toMatchObject({
      code: 'LEAF_STORE_UNAVAILABLE',
      message: expect.stringContaining('Grant') as string,
    });
    for (const table of ['replication_group_members', 'replication_group_member_stats']) {
      await group.members[0]!.query(`GRANT SELECT ON performance_schema.${table} TO limited@'127.0.0.1'`);
    }
    expect(await store.allocate(TAG, 10)).toBeDefined();
  });
});

it('a server that becomes a group while servers of Leaf run is noticed at the next connection', async () => {
  const group = await ReplicationGroup.prepare();
  const member = group.members[0]!;
  try {
    await member.start();
    const database = await connect(parseDatabaseUrl(await member.createDatabase()));
    const messages: string[] = [];
    const store = createSegmentStore(database, { gapSteps: 10, onFailover: (text) => messages.push(text) });
    await store.allocate(TAG, 10);
    member.installed = true;
    await restartOutside(member);
    await until('a connection', () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    );
    await expect(store.allocate(TAG, 10)).rejects.toMatchObject({
      message: expect.stringContaining(OUTSIDE) as string,
    });
    await member.join(true);
    expect((await store.allocate(TAG, 10)).from).toBeGreaterThan(2000n);
    expect(messages).toEqual([expect.stringContaining('group ')]);
    await member.query('STOP GROUP_REPLICATION; SET GLOBAL super_read_only = OFF; UNINSTALL PLUGIN group_replication');
    expect(await store.allocate(TAG, 10)).toBeDefined();
    expect(messages).toHaveLength(2);
    await database.destroy();
  } finally {
    await group.stop();
  }
});
