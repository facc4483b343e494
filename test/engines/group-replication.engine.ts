import { ReplicationGroup } from '../support/engines/group-replication';
import { type Engine, engineSuite } from './engine-suite';
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

/** Outside of its group it takes writes, and is to give no ID; then it joins again. */
async function restartOutside({ group }: Group, index: number): Promise<void> {
  const member = group.members[index]!;
  member.startOnBoot = false;
  await member.restart();
  await new Promise((resolve) => setTimeout(resolve, 5000));
  member.startOnBoot = true;
  await member.join(false);
  await group.complete();
}

engineSuite({
  name: 'MySQL Group Replication, 3 primaries',
  start,
  disturbances: [
    ...[0, 1, 2].map((index) => ({
      name: `kill -9 and restart of member ${index + 1}`,
      disturb: (group: Group) => restart(group, index),
    })),
    {
      name: 'kill -9 of member 2, which takes writes outside of the group for 5 s',
      disturb: (group: Group) => restartOutside(group, 1),
    },
  ],
});
