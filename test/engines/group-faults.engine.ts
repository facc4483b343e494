import { type Member, ReplicationGroup } from '../support/servers/engines/group-replication';
import { until } from '../support/until';
import { type LossResult, LossWorld } from './loss-world';
import { recordEngine, recordFault } from './results';
import { versionOf } from './single-server';

const NAME = 'MySQL Group Replication, 3 primaries';
const SETTINGS = 'defaults';

let group: ReplicationGroup;
let members: readonly Member[];
beforeAll(async () => {
  await startGroup();
  recordEngine(NAME, await versionOf(members[0]!));
  await group.stop();
});
// A member with commits that its group lacks cannot join it again.
beforeEach(startGroup);
afterEach(() => group.stop());

async function startGroup(): Promise<void> {
  group = await ReplicationGroup.start();
  ({ members } = group);
}

async function underLoad(): Promise<{ world: LossWorld; urls: readonly string[] }> {
  const urls = await group.createDatabase();
  return { world: await LossWorld.start(urls), urls };
}

/** Without its group. */
async function restart(member: Member): Promise<void> {
  member.startOnBoot = false;
  await member.restart();
}

/** An administrator says that this member alone is the group. */
async function force(member: Member): Promise<void> {
  await until('members that are unreachable', async () => {
    const rows = await member.query(
      "SELECT 1 FROM performance_schema.replication_group_members WHERE member_state = 'UNREACHABLE'",
    );
    return rows.length === members.length - 1;
  });
  await member.query(`SET GLOBAL group_replication_force_members = '${member.groupAddress}'`);
  await until('a group of one member', async () => {
    const rows = await member.query('SELECT 1 FROM performance_schema.replication_group_members');
    return rows.length === 1;
  });
  await member.query("SET GLOBAL group_replication_force_members = ''");
}

/** Number of transactions that it has, applied or only received. */
async function position(member: Member): Promise<number> {
  const [row] = await member.query(
    `SELECT GTID_SUBTRACT(CONCAT_WS(',', @@global.gtid_executed, received_transaction_set), '') AS transactions
     FROM performance_schema.replication_connection_status WHERE channel_name = 'group_replication_applier'`,
  );
  const blocks = String(row?.transactions).matchAll(/:(\d+)(?:-(\d+))?(?=[:,\n]|$)/g);
  return [...blocks].reduce((sum, [, from, to = from]) => sum + Number(to) - Number(from) + 1, 0);
}

async function recordEnd(fault: string, world: LossWorld): Promise<LossResult> {
  const result = await world.end();
  recordFault(fault, SETTINGS, result);
  return result;
}

it('gives no ID twice when two of three members are killed at once, and the last one is made the group', async () => {
  const { world, urls } = await underLoad();
  await Promise.all(members.slice(0, 2).map((member) => member.kill()));
  await world.crash();
  await force(members[2]!);
  await world.count(urls[2]!);
  await world.goOn([urls[2]!]);
  const result = await recordEnd('kill -9 of two members at once, force_members on the third', world);
  expect(result.moves).toHaveLength(1);
  expect(result.duplicates).toBe(0);
});

it('gives no ID twice when all members are killed at once', async () => {
  const { world, urls } = await underLoad();
  await Promise.all(members.map((member) => member.kill()));
  await world.crash();
  const found: { member: Member; end: number }[] = [];
  for (const member of members) {
    await restart(member);
    found.push({ member, end: await position(member) });
  }
  const [first] = found.sort((a, b) => b.end - a.end);
  await first!.member.join(true);
  await until('the first member', () => first!.member.isOnline(1));
  await world.count(urls[members.indexOf(first!.member)]!);
  // The others may have commits that were not confirmed, and cannot join then.
  await world.goOn([urls[members.indexOf(first!.member)]!]);
  const result = await recordEnd('kill -9 of all members at once, new group from the last one', world);
  expect(result).toMatchObject({ rowsLost: 0, updatesLost: 0, duplicates: 0 });
});

it('gives no ID twice when the group is made anew from a member that was left behind', async () => {
  const { world, urls } = await underLoad();
  await members[2]!.kill();
  await world.progress([0, 1], 50);
  await Promise.all(members.map((member) => member.kill()));
  await world.crash();
  await restart(members[2]!);
  await members[2]!.join(true);
  await until('the member', () => members[2]!.isOnline(1));
  const loss = await world.count(urls[2]!);
  await world.goOn([urls[2]!]);
  const result = await recordEnd('kill -9 of member 3, then of the others, new group from member 3', world);
  expect(loss.updatesLost).toBeGreaterThan(0);
  expect(result.duplicates).toBe(0);
});
