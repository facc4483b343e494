import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdServer } from '../../../support/servers/etcd';
import type { ChaosWorld } from '../world/world';
import { ETCD_EDGE_FAULTS } from './edge-faults';
import { type Draw, duration, type Plan, SHARING } from './fault';
import { alignClocks, emptied } from './fleet-faults';

type Act = (world: ChaosWorld) => Promise<() => Promise<unknown>>;

/** A fault that servers bridge with the time that they have reserved. */
function bridged(part: 'etcd' | 'kubernetes', name: string, holdMs: readonly [number, number], begin: Act): Draw {
  return (random): Plan => ({
    kind: `${part}-${name}`,
    parts: [part],
    holdMs: duration(random, ...holdMs),
    outlastsBuffers: false,
    detail: '',
    arm: (world) => {
      let end: () => Promise<unknown> = () => Promise.resolve();
      return {
        begin: async () => void (end = await begin(world)),
        end: async () => {
          await end();
        },
        expected: () => [],
      };
    },
  });
}

/** The leader, and others up to this number. */
async function members({ coordinator: { etcd } }: ChaosWorld, many: number): Promise<EtcdServer[]> {
  const leader = await etcd.leader();
  return [leader, ...etcd.servers.filter((server) => server !== leader)].slice(0, many);
}

const kill =
  (many: number): Act =>
  async (world) => {
    const down = await members(world, many);
    await Promise.all(down.map((server) => server.kill()));
    return () => Promise.all(down.map((server) => server.restart()));
  };

const suspend: Act = async (world) => {
  const [leader] = await members(world, 1);
  await leader!.suspend();
  return () => leader!.resume();
};

const away: Act = ({ coordinator: { api } }) => {
  api.away = true;
  return Promise.resolve(() => Promise.resolve((api.away = false)));
};

const throttle: Act = ({ coordinator: { api } }) => {
  api.throttled = Infinity;
  return Promise.resolve(() => Promise.resolve((api.throttled = 0)));
};

/** From the snapshot to its restoration: servers have reserved time since. */
const SINCE_SNAPSHOT_MS = 3000;
const PARTS = ['etcd', ...SHARING.map((name) => `clock ${name}`)];

export const ETCD_FAULTS: readonly Draw[] = [
  bridged('etcd', 'leader-kill', [1000, 3000], kill(1)),
  bridged('etcd', 'leader-suspend', [2000, 5000], suspend),
  bridged('etcd', 'quorum-loss', [3000, 6000], kill(2)),
  emptied('etcd-emptied', PARTS, async (world) => {
    await alignClocks(world);
    const [leader] = await members(world, 1);
    await leader!.deleteKeys('/leaf/');
  }),
  emptied('etcd-restored', PARTS, async (world) => {
    const restore = await world.coordinator.etcd.backUp();
    await alignClocks(world);
    await sleep(SINCE_SNAPSHOT_MS);
    await restore();
  }),
  bridged('kubernetes', 'away', [3000, 6000], away),
  bridged('kubernetes', 'throttled', [3000, 6000], throttle),
  emptied('kubernetes-emptied', ['kubernetes'], ({ coordinator: { api } }) => {
    api.wipe();
    return Promise.resolve();
  }),
  ...ETCD_EDGE_FAULTS,
];
