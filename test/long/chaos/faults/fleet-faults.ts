import { setTimeout as sleep } from 'node:timers/promises';
import { GRACE_MS, REPORT_MS, type ChaosWorld } from '../world/world';
import { FAILOVER_BEHIND } from './database-faults';
import { type Draw, duration, isHindered, NO_WORKER, type Plan, serverOf, SHARING } from './fault';

function zookeeperFault(kind: string, holdMs: readonly [number, number], many: number): Draw {
  return (random): Plan => ({
    kind,
    parts: ['zookeeper'],
    holdMs: duration(random, ...holdMs),
    outlastsBuffers: false,
    detail: '',
    arm: ({ coordinator }) => {
      const { ensemble } = coordinator;
      let down: typeof ensemble.servers = [];
      return {
        async begin() {
          const leader = await ensemble.leader();
          const followers = ensemble.servers.filter((server) => server !== leader);
          down = [leader, ...followers].slice(0, many);
          await Promise.all(down.map((server) => server.kill()));
        },
        async end() {
          await Promise.all(down.map((server) => server.restart()));
        },
        expected: () => [],
      };
    },
  });
}

export const ZOOKEEPER_FAULTS: readonly Draw[] = [
  zookeeperFault('zookeeper-leader-kill', [1000, 3000], 1),
  zookeeperFault('zookeeper-quorum-loss', [3000, 6000], 2),
];

/** Until newcomers have waited in the young registry, whoever writes its floor. */
const EMPTIED_MS = [GRACE_MS + 2 * REPORT_MS, GRACE_MS + 4 * REPORT_MS] as const;

/**
 * A registry forgets everything while its servers run. They register again at their next report; one that cannot,
 * because something else has befallen it, acquires another worker.
 */
export function emptied(kind: string, parts: readonly string[], empty: (world: ChaosWorld) => Promise<void>): Draw {
  return (random): Plan => ({
    kind,
    parts,
    holdMs: duration(random, ...EMPTIED_MS),
    outlastsBuffers: false,
    detail: '',
    arm: (world) => ({
      begin: () => empty(world),
      end: () => Promise.resolve(),
      expected: ({ server, mode }, others) => (mode === 'snowflake' && isHindered(server, others) ? NO_WORKER : []),
    }),
  });
}

/**
 * Servers of one registry whose clocks differ by hours may not lose its history: docs/operations/worker-registry.md, "What remains".
 * Those behind are set to the clock of the one ahead, and have reported by it.
 */
export async function alignClocks(world: ChaosWorld): Promise<void> {
  const clocks = SHARING.map((name) => serverOf(world, name).clock);
  const aheadMs = Math.max(...clocks.map((clock) => clock.aheadMs));
  await Promise.all(clocks.map((clock) => clock.advanceTo(aheadMs)));
  await sleep(3 * REPORT_MS);
}

export const LOST_HISTORY: readonly Draw[] = [
  FAILOVER_BEHIND,
  emptied('zookeeper-emptied', ['zookeeper', ...SHARING.map((name) => `clock ${name}`)], async (world) => {
    await alignClocks(world);
    await world.emptyZookeeper();
  }),
  emptied('database-emptied', ['database'], ({ database }) => database.emptyRegistries()),
];
