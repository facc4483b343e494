import type { LeaseRig } from '../../support/fakes/lease-rig';
import { type FleetOptions, MAINTAIN_MS, RegistryServers } from '../../support/fakes/registry-fleet';

const TTL = 600_000;
const FEW = 6;
const MANY = 60;

async function started(servers: number, registry: FleetOptions['registry']): Promise<RegistryServers> {
  const fleet = new RegistryServers({ servers, registry, leaseTtlMs: TTL });
  await fleet.start();
  await fleet.run(MAINTAIN_MS);
  return fleet;
}

describe.each(['zk_recycle', 'zk_normal', 'database'] as const)('a fleet with the registry %s', (registry) => {
  /** Reads and writes of a fleet in a time in which the pool is listed twice. */
  async function cost(servers: number): Promise<{ reads: number; writes: number; bytes: number }> {
    const fleet = await started(servers, registry);
    fleet.traffic.reset();
    await fleet.run(TTL / 2);
    const { reads, writes, bytes } = fleet.traffic;
    return { reads, writes, bytes };
  }

  it('costs the registry in proportion to its servers', async () => {
    const [few, many] = [await cost(FEW), await cost(MANY)];
    for (const what of ['reads', 'writes', 'bytes'] as const) {
      const exponent = Math.log(many[what] / few[what]) / Math.log(MANY / FEW);
      expect(`${what}: ${exponent < 1.1 ? 'at most 1' : exponent}`).toBe(`${what}: at most 1`);
    }
    // A report is a read of the document and a write, in ZooKeeper after a read of the node. The server looks for its
    // node every 15 s, and reads the document or all records twice.
    expect(many.reads).toBeLessThan(MANY * ((2 * TTL) / 2 / 3000 + TTL / 2 / 15_000 + 6));
    expect(many.writes).toBeLessThan(MANY * (TTL / 2 / 3000) + 10);
  });
});

describe('the maintenance of a pool', () => {
  const held = (fleet: RegistryServers, rig: LeaseRig): Promise<boolean> =>
    fleet.records().then((all) => all.some(({ workerId, record }) => workerId === rig.workerId && !record.free));

  it('passes to another server when the one that has the turn crashes, and frees what was abandoned', async () => {
    const fleet = await started(FEW, 'zk_recycle');
    await fleet.run(TTL);
    // The first server that started has had the turn since.
    const [first, , other] = fleet.rigs as [LeaseRig, LeaseRig, LeaseRig];
    fleet.crash(first);
    fleet.crash(other);
    // Nobody has watched these records for the lease TTL.
    await fleet.run(TTL - MAINTAIN_MS);
    expect([await held(fleet, first), await held(fleet, other)]).toEqual([true, true]);
    await fleet.run(1.5 * TTL + 4 * MAINTAIN_MS);
    expect([await held(fleet, first), await held(fleet, other)]).toEqual([false, false]);
    expect(fleet.rigs.flatMap(({ losses, historiesLost }) => [...losses, ...historiesLost])).toStrictEqual([]);
    for (const rig of fleet.rigs) expect(await held(fleet, rig)).toBe(true);
  });

  it('tells every server how many worker IDs are used', async () => {
    const fleet = await started(FEW, 'zk_recycle');
    await fleet.run(TTL);
    const used = { used: FEW, most: 1024 };
    expect(fleet.rigs.map(({ registry }) => registry.usage)).toEqual(fleet.rigs.map(() => used));
  });
});

describe('the list of servers in ZooKeeper', () => {
  it('is read again only after a server has started or stopped', async () => {
    const fleet = await started(FEW, 'zk_recycle');
    await fleet.watch(1);
    fleet.traffic.reset();
    await fleet.watch(10);
    expect(fleet.traffic.reads).toBe(10);
    await fleet.startOne();
    fleet.traffic.reset();
    await fleet.watch(10);
    expect(fleet.traffic.reads).toBe(10 + 1 + FEW + 1);
  });

  it('costs a start no more reads than the clocks that it compares', async () => {
    const fleet = await started(MANY, 'zk_normal');
    fleet.traffic.reset();
    await fleet.startOne();
    // 32 of the 60 others, and its own nodes.
    expect(fleet.traffic.reads).toBeLessThan(32 + 30);
  });
});
