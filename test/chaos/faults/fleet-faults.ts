import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '../history/history';
import type { LeafProcess } from '../world/leaf-process';
import { GRACE_MS, REPORT_MS, type World } from '../world/world';
import { type Code, type Draw, duration, type Fault, NO_SEGMENT, type Plan, serverOf, type ServerName } from './fault';

/** A fault of what all servers stand on. */
class FleetFault implements Fault {
  constructor(
    private readonly codes: Readonly<Record<Mode, readonly Code[]>>,
    /** Clients of all servers have nowhere else to go. */
    private readonly ofClients: readonly Code[],
    readonly begin: () => Promise<void>,
    readonly end: () => Promise<void>,
  ) {}

  expected(server: LeafProcess | undefined, mode: Mode): readonly Code[] {
    if (server === undefined) return mode === 'segment' ? this.ofClients : [];
    return this.codes[mode];
  }
}

const DATABASE_DOWN = { segment: NO_SEGMENT, snowflake: [] };
const NOTHING = { segment: [], snowflake: [] };

interface Acts {
  readonly begin: (world: World) => Promise<void>;
  readonly end: (world: World) => Promise<void>;
  /** Segments in memory do not last as long. */
  readonly outlastsBuffers?: boolean;
  /** What it breaks besides the database. */
  readonly parts?: readonly string[];
}

function databaseFault(kind: string, holdMs: readonly [number, number], acts: Acts): Draw {
  const { outlastsBuffers = false, parts = [] } = acts;
  return (random): Plan => ({
    kind,
    parts: ['database', ...parts],
    holdMs: duration(random, ...holdMs),
    outlastsBuffers,
    detail: '',
    arm: (world) =>
      new FleetFault(
        DATABASE_DOWN,
        outlastsBuffers ? [...NO_SEGMENT, 'LEAF_SERVERS_UNAVAILABLE'] : [],
        () => acts.begin(world),
        () => acts.end(world),
      ),
  });
}

const kill = (world: World): Promise<void> => world.database.kill();
const restart = (world: World): Promise<void> => world.database.restart();

function zookeeperFault(kind: string, holdMs: readonly [number, number], many: number): Draw {
  return (random): Plan => ({
    kind,
    parts: ['zookeeper'],
    holdMs: duration(random, ...holdMs),
    outlastsBuffers: false,
    detail: '',
    arm: ({ ensemble }) => {
      let down: typeof ensemble.servers = [];
      return new FleetFault(
        NOTHING,
        [],
        async () => {
          const leader = await ensemble.leader();
          const followers = ensemble.servers.filter((server) => server !== leader);
          down = [leader, ...followers].slice(0, many);
          await Promise.all(down.map((server) => server.kill()));
        },
        async () => {
          await Promise.all(down.map((server) => server.restart()));
        },
      );
    },
  });
}

export const FLEET_FAULTS: readonly Draw[] = [
  databaseFault('database-kill', [500, 2000], { begin: kill, end: restart }),
  databaseFault('database-failover', [500, 1500], { begin: kill, end: (world) => world.database.promote() }),
  databaseFault('database-suspend', [1000, 2500], {
    begin: ({ database }) => database.suspend(),
    end: ({ database }) => database.resume(),
  }),
  databaseFault('database-outage', [14_000, 16_000], { begin: kill, end: restart, outlastsBuffers: true }),
  zookeeperFault('zookeeper-leader-kill', [1000, 3000], 1),
  zookeeperFault('zookeeper-quorum-loss', [3000, 6000], 2),
];

/**
 * The replica that is promoted lacks the updates of the last seconds: ranges that were taken, and what servers reserved
 * of time. Both go on: ranges behind a gap, holders of workers by registering again.
 */
const failoverBehind = databaseFault('database-failover-behind', [1500, 2500], {
  // A tag that was just made would be lost as well.
  parts: ['tags'],
  begin: ({ database }) => database.leaveReplicaBehind(),
  end: async ({ database }) => {
    await database.kill();
    await database.promote();
  },
});

/** Until newcomers have waited in the young registry, whoever writes its floor. */
const EMPTIED_MS = [GRACE_MS + 2 * REPORT_MS, GRACE_MS + 4 * REPORT_MS] as const;

/**
 * A registry forgets everything while its servers run. They register again at their next report; one that cannot,
 * because something else has befallen it, acquires another worker.
 */
function emptied(kind: string, parts: readonly string[], empty: (world: World) => Promise<void>): Draw {
  return (random): Plan => ({
    kind,
    parts,
    holdMs: duration(random, ...EMPTIED_MS),
    outlastsBuffers: false,
    detail: '',
    arm: (world) => ({
      begin: () => empty(world),
      end: () => Promise.resolve(),
      expected: (server, mode, others) => {
        if (server === undefined || mode === 'segment') return [];
        const isHindered = others.some((plan) => plan.parts.some((part) => part.endsWith(` ${server.name}`)));
        return isHindered ? ['LEAF_NOT_READY'] : [];
      },
    }),
  });
}

/** The servers that share a registry. */
const SHARING: readonly ServerName[] = ['a', 'b'];

/**
 * Servers of one registry whose clocks differ by hours may not lose its history: docs/operations.md, "What remains".
 * Those behind are set to the clock of the one ahead, and have reported by it.
 */
async function alignClocks(world: World): Promise<void> {
  const clocks = SHARING.map((name) => serverOf(world, name).clock);
  const aheadMs = Math.max(...clocks.map((clock) => clock.aheadMs));
  await Promise.all(clocks.map((clock) => clock.advanceTo(aheadMs)));
  await sleep(3 * REPORT_MS);
}

export const LOST_HISTORY: readonly Draw[] = [
  failoverBehind,
  emptied('zookeeper-emptied', ['zookeeper', ...SHARING.map((name) => `clock ${name}`)], async (world) => {
    await alignClocks(world);
    await world.emptyZookeeper();
  }),
  emptied('database-emptied', ['database'], ({ database }) => database.emptyRegistries()),
];
