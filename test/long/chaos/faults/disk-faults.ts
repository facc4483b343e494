import type { Disk } from '../world/disk';
import { FIXED_TTL_MS } from '../world/world';
import { type Draw, duration, type Plan, serverOf, SERVERS } from './fault';
import { ServerFault } from './server-faults';

function diskFault(kind: string, begin: (disk: Disk) => Promise<void>, end: (disk: Disk) => Promise<void>): Draw {
  return (random): Plan => {
    const name = random.pick(SERVERS);
    return {
      kind,
      parts: [`disk ${name}`],
      // Now and then past the time that was reserved before.
      holdMs: duration(random, 1500, FIXED_TTL_MS + 1000),
      outlastsBuffers: false,
      detail: name,
      arm: (world) => {
        const disk = world.disks.get(name);
        if (disk === undefined) throw new Error(`Server ${name} has no disk of its own`);
        const codes = { segment: [], snowflake: ['LEAF_LEASE_EXPIRED'] };
        return new ServerFault(
          serverOf(world, name),
          codes,
          () => begin(disk),
          () => end(disk),
        );
      },
    };
  };
}

export const DISK_FAULTS: readonly Draw[] = [
  diskFault(
    'disk-full',
    (disk) => disk.fill(),
    (disk) => disk.makeRoom(),
  ),
  diskFault(
    'disk-read-only',
    (disk) => disk.turnReadOnly(),
    (disk) => disk.turnWritable(),
  ),
];
