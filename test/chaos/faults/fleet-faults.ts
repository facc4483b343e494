import type { Mode } from '../history/history';
import type { LeafProcess } from '../world/leaf-process';
import type { World } from '../world/world';
import { until } from '../../support/until';
import { START_LIMIT_MS } from './server-faults';
import {
  type Code,
  type Draw,
  duration,
  type Fault,
  NO_ANSWER,
  NO_SEGMENT,
  type Plan,
  serverOf,
  type ServerName,
} from './fault';

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
}

function databaseFault(kind: string, holdMs: readonly [number, number], acts: Acts): Draw {
  const { outlastsBuffers = false } = acts;
  return (random): Plan => ({
    kind,
    parts: ['database'],
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

/** The only server whose worker ID is in the database. */
const MYSQL_SERVER: ServerName = 'e';

/**
 * The replica that is promoted lacks the updates of the last seconds: ranges that were taken, and what `mysql` reserved.
 * The server of that registry has lost its lease then, and an operator starts it again.
 */
const failoverBehind: Draw = (random) => ({
  kind: 'database-failover-behind',
  // A tag that was just made would be lost as well, and the worker ID of a server that has just started.
  parts: ['database', 'tags', `server ${MYSQL_SERVER}`],
  holdMs: duration(random, 1500, 2500),
  outlastsBuffers: false,
  detail: '',
  arm: (world): Fault => {
    const server = serverOf(world, MYSQL_SERVER);
    return {
      begin: () => world.database.leaveReplicaBehind(),
      end: async () => {
        await world.database.kill();
        await world.database.promote();
        await server.kill();
        await server.start();
        await until('start', () => server.hasStarted(), START_LIMIT_MS);
      },
      expected: (asked, mode) => {
        if (asked === undefined) return [];
        if (asked !== server) return DATABASE_DOWN[mode];
        return [...NO_ANSWER, ...(mode === 'segment' ? NO_SEGMENT : ['LEAF_LEASE_LOST', 'LEAF_NOT_READY'])];
      },
    };
  },
});

/** What somebody has to put right by hand: no part of a run unless it is asked for. */
export const OPERATOR_NEEDED: readonly Draw[] = [failoverBehind];
