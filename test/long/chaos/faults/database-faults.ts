import { TAGS } from '../world/database';
import type { ChaosWorld } from '../world/world';
import {
  type Call,
  type Code,
  type Draw,
  duration,
  type Fault,
  isHindered,
  NO_SEGMENT,
  NO_WORKER,
  type Plan,
} from './fault';

/** A client of all servers has nowhere else to go. */
const NO_SEGMENT_ANYWHERE: readonly Code[] = [...NO_SEGMENT, 'LEAF_SERVERS_UNAVAILABLE'];

type Act = (world: ChaosWorld) => Promise<void>;

interface DatabaseFault {
  readonly kind: string;
  readonly holdMs: readonly [number, number];
  /** Begins it; resolves with what ends it. */
  readonly begin: (world: ChaosWorld) => Promise<() => Promise<void>>;
  /** Segments in memory do not last as long. */
  readonly outlastsBuffers?: boolean;
  /** The only tags that it keeps from being allocated; all of them when left out. */
  readonly tags?: readonly string[];
}

/** A fault of the database, which all servers stand on. */
function databaseFault({ kind, holdMs, begin, outlastsBuffers = false, tags }: DatabaseFault): Draw {
  const ofClients = outlastsBuffers ? NO_SEGMENT_ANYWHERE : [];
  return (random): Plan => ({
    kind,
    parts: ['database'],
    holdMs: duration(random, ...holdMs),
    outlastsBuffers,
    detail: '',
    arm: (world) => {
      let end = nothing;
      return {
        begin: async () => void (end = await begin(world)),
        end: () => end(),
        expected: ({ server, mode, tag }) => {
          if (mode === 'snowflake' || (tags !== undefined && !tags.some((name) => name === tag))) return [];
          return server === undefined ? ofClients : NO_SEGMENT;
        },
      };
    },
  });
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

function turns(begin: Act, end: Act): DatabaseFault['begin'] {
  return async (world) => {
    await begin(world);
    return () => end(world);
  };
}

const kill: Act = ({ database }) => database.kill();
const restart: Act = ({ database }) => database.restart();
const promote: Act = ({ database }) => database.promote();

const [LOCKED_TAG] = TAGS;

export const DATABASE_FAULTS: readonly Draw[] = [
  databaseFault({ kind: 'database-kill', holdMs: [500, 2000], begin: turns(kill, restart) }),
  databaseFault({ kind: 'database-failover', holdMs: [500, 1500], begin: turns(kill, promote) }),
  databaseFault({
    kind: 'database-suspend',
    holdMs: [1000, 2500],
    begin: turns(
      ({ database }) => database.suspend(),
      ({ database }) => database.resume(),
    ),
  }),
  databaseFault({
    kind: 'database-outage',
    holdMs: [14_000, 16_000],
    begin: turns(kill, restart),
    outlastsBuffers: true,
  }),
  databaseFault({
    kind: 'database-switch-over',
    // Longer than segments in memory last: a server that stays with the old primary comes to their end.
    holdMs: [14_000, 16_000],
    begin: turns(({ database }) => database.switchOver(), nothing),
  }),
  databaseFault({
    kind: 'database-row-locked',
    // Likewise: other tags must not wait for this one.
    holdMs: [14_000, 16_000],
    begin: ({ database }) => database.lockRow(LOCKED_TAG),
    outlastsBuffers: true,
    tags: [LOCKED_TAG],
  }),
  databaseFault({
    kind: 'database-table-locked',
    holdMs: [2000, 4000],
    begin: ({ database }) => database.lockTags(),
  }),
];

/**
 * The replica that is promoted lacks the updates of the last seconds: ranges that were taken, and what servers reserved
 * of time. Both go on: ranges behind a gap, holders of workers by registering again. A `max_id` that was raised
 * meanwhile would be lost as well, beyond any gap: nobody changes tags.
 */
const failoverBehind = databaseFault({
  kind: 'database-failover-behind',
  holdMs: [1500, 2500],
  begin: turns(
    async ({ database, tagChanges }) => {
      await tagChanges.close();
      await database.leaveReplicaBehind();
    },
    async ({ database, tagChanges }) => {
      await database.kill();
      await database.promote();
      tagChanges.open();
    },
  ),
});

/** A holder that cannot register again in time, because something else strikes it, acquires another worker. */
export const FAILOVER_BEHIND: Draw = (random) => {
  const plan = failoverBehind(random);
  const arm: Plan['arm'] = (world) => {
    const fault = plan.arm(world);
    const expected: Fault['expected'] = (call, others) => {
      const codes = fault.expected(call, others);
      return call.mode === 'snowflake' && isHindered(call.server, others) ? [...codes, ...NO_WORKER] : codes;
    };
    return { ...fault, expected };
  };
  return { ...plan, arm };
};

function poolerFault(kind: string, holdMs: readonly [number, number], begin: Act, end: Act): Draw {
  return (random): Plan => ({
    kind,
    parts: ['pooler'],
    holdMs: duration(random, ...holdMs),
    outlastsBuffers: false,
    detail: '',
    arm: (world) => ({
      begin: () => begin(world),
      end: () => end(world),
      expected: ({ server, mode }: Call) => {
        const isBehindIt = server !== undefined && world.database.isPooled(server.registry);
        return isBehindIt && mode === 'segment' ? NO_SEGMENT : [];
      },
    }),
  });
}

/** Of the pooler between PostgreSQL and some servers. */
export const POOLER_FAULTS: readonly Draw[] = [
  poolerFault(
    'pooler-kill',
    [500, 2000],
    ({ database }) => database.pooler.kill(),
    ({ database }) => database.pooler.restart(),
  ),
  poolerFault(
    'pooler-suspend',
    [1000, 2500],
    ({ database }) => database.pooler.suspend(),
    ({ database }) => database.pooler.resume(),
  ),
];
