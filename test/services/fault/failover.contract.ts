import { MAX_RANGE_SIZE } from '@leaf-ids/core';
import { closeAll } from '../../support/close-all';
import { GAP_STEPS, type Instance, OPTIONS, Valve, FailoverWorld } from '../../support/servers/failover-world';
import type { DatabasePair } from '../../support/servers/database-pair';
import type { PrivateServer } from '../../support/servers/private-server';
import { until } from '../../support/until';

const ROUNDS = 3;
const INSTANCES = 3;

export interface FailoverHarness {
  readonly start: () => Promise<PrivateServer>;
  readonly startPair: (synchronous: boolean) => Promise<DatabasePair>;
}

/** The replica has every update so far, and gets none of those to come. */
async function cutReplica({ valve }: FailoverWorld, pair: DatabasePair): Promise<void> {
  await valve.close();
  await pair.waitForReplica();
  await pair.stopReplication();
}

/** The primary dies, and with it the instance that has all that its replica does not know of, which takes over. */
async function failOverWithout(lost: Instance, { valve, proxy }: FailoverWorld, pair: DatabasePair): Promise<void> {
  await pair.primary.kill();
  valve.open();
  await lost.stop();
  await pair.promote();
  proxy.retarget(pair.primary.port);
}

/** The primary dies, under load, with updates that its replica does not get. */
async function dieWithLostUpdates(world: FailoverWorld, pair: DatabasePair): Promise<void> {
  const { valve } = world;
  await cutReplica(world, pair);
  await valve.allow(GAP_STEPS);
  await pair.primary.kill();
  valve.open();
}

/** The replica freezes: what the primary carries out from now on, nobody is told. */
async function stall(pair: DatabasePair, instances: readonly Instance[]): Promise<void> {
  await pair.replica.suspend();
  const before = instances.map(({ refused }) => refused);
  await until('refusals', () => instances.every(({ refused }, index) => refused > before[index]!));
}

/** What no failover of a database may lead to. */
export function failoverContract(database: string, { start, startPair }: FailoverHarness): void {
  describe(`segment mode on ${database}`, () => {
    /** What the test opened; closed last one first. */
    const opened: (() => unknown)[] = [];

    afterEach(() => closeAll(opened));

    async function makePair(synchronous: boolean): Promise<{ pair: DatabasePair; world: FailoverWorld }> {
      const pair = await startPair(synchronous);
      opened.push(() => pair.stop());
      return { pair, world: await FailoverWorld.make(pair.primary, opened) };
    }

    it('gives no ID twice when the database is killed and started again', async () => {
      const server = await start();
      opened.push(() => server.stop());
      const world = await FailoverWorld.make(server, opened);
      const instances = await world.addLoad(INSTANCES);
      for (let round = 0; round < ROUNDS; round++) {
        await world.serving(instances, 3);
        await server.kill();
        await server.restart();
        expect(await world.countLost(server.port)).toBe(0);
        await world.goOn(server.port, instances);
      }
      expect(world.failovers).toStrictEqual([]);
      await world.check(ROUNDS);
    });

    it.each([
      { replica: 'a replica', stalled: false },
      { replica: 'a replica that kept the primary waiting', stalled: true },
    ])('gives no ID twice when $replica, with every update, takes over', async ({ stalled }) => {
      const { pair, world } = await makePair(true);
      const instances = await world.addLoad(INSTANCES);
      for (let round = 0; round < ROUNDS; round++) {
        await world.serving(instances, 3);
        if (stalled) await stall(pair, instances);
        await pair.primary.kill();
        await pair.replica.resume();
        await pair.promote();
        expect(await world.countLost(pair.primary.port)).toBe(0);
        await world.goOn(pair.primary.port, instances);
        // A primary that begins to wait for its replica in the midst of commits is now and then stuck for good.
        await world.valve.close();
        await pair.rejoin();
        world.valve.open();
      }
      await world.check(ROUNDS);
    });

    it.each([
      { servers: 'the servers that know least', survivors: INSTANCES - 1, fresh: 0 },
      { servers: 'fresh servers', survivors: 0, fresh: 2 },
      { servers: 'all servers and fresh ones', survivors: INSTANCES, fresh: 2 },
    ])('gives no ID twice when $servers go on with a replica that lost updates', async ({ survivors, fresh }) => {
      const { pair, world } = await makePair(false);
      let instances = await world.addLoad(INSTANCES);
      for (let round = 0; round < ROUNDS; round++) {
        // So often that the steps are at their bound.
        await world.serving(instances, 6);
        await dieWithLostUpdates(world, pair);
        instances.sort((a, b) => (a.highest < b.highest ? -1 : 1));
        await Promise.all(instances.splice(survivors).map((instance) => instance.stop()));
        await pair.promote();
        expect(await world.countLost(pair.primary.port)).toBeGreaterThan(0);
        world.proxy.retarget(pair.primary.port);
        instances.push(...(await world.addLoad(fresh)));
        await world.goOn(pair.primary.port, instances);
        await pair.rejoin();
        await Promise.all(instances.splice(INSTANCES).map((instance) => instance.stop()));
        instances = [...instances, ...(await world.addLoad(INSTANCES - instances.length))];
      }
      await world.check(ROUNDS);
      expect(world.failovers).toHaveLength(ROUNDS);
    });

    it('gives no ID twice when the first thing that a promoted replica sees is a range that comes back', async () => {
      const { pair, world } = await makePair(false);
      const [lost, stopping] = [await world.addInstance(), await world.addInstance()];
      for (const instance of [lost, stopping]) await instance.takeUntil(() => instance.loads >= 6);
      // The newest range that the replica knows is in the hands of `stopping`, which has not used it up.
      await cutReplica(world, pair);
      void world.valve.allow(GAP_STEPS);
      await lost.takeUntil(() => world.valve.exhausted);
      await lost.drain();

      await failOverWithout(lost, world, pair);
      expect(await world.countLost(pair.primary.port)).toBe(GAP_STEPS);
      await stopping.stop();
      const fresh = await world.addInstance();
      await fresh.takeUntil(() => fresh.count >= GAP_STEPS * OPTIONS.maxStep);
      await world.check(1);
    });

    it('gives no ID twice when the size of the largest segment was among the updates lost before', async () => {
      const { pair, world } = await makePair(false);
      const growing = await world.addInstance();
      await growing.takeUntil(() => growing.loads >= 2);
      const loseUpdates = async (count: number): Promise<Instance> => {
        await cutReplica(world, pair);
        void world.valve.allow(count);
        await growing.takeUntil(() => world.valve.exhausted);
        await growing.drain();
        await pair.primary.kill();
        await pair.promote();
        world.proxy.retarget(pair.primary.port);
        expect(await world.countLost(pair.primary.port)).toBe(count);
        // Another one than `growing` is the first on the new server.
        const fresh = await world.addInstance(new Valve());
        await fresh.takeUntil(() => fresh.count > 0);
        world.valve.open();
        return fresh;
      };
      // 200 and 400 IDs, the first segments above the step of the row.
      const first = await loseUpdates(2);
      const wanted = growing.loads + 3;
      await growing.takeUntil(() => growing.loads >= wanted);
      await first.stop();
      await pair.rejoin();
      const second = await loseUpdates(GAP_STEPS);
      await growing.stop();
      await second.takeUntil(() => second.count >= GAP_STEPS * OPTIONS.maxStep);
      await world.check(2);
    });

    it.each([
      { lost: 'ranges of the largest size', size: MAX_RANGE_SIZE, maxStep: OPTIONS.maxStep },
      { lost: 'segments that double each time', size: 1, maxStep: 1_000_000 },
    ])('gives no ID twice when $lost were lost', async ({ size, maxStep }) => {
      const { pair, world } = await makePair(false);
      const lost = await world.addInstance(world.valve, { ...OPTIONS, maxStep });
      await lost.takeUntil(() => lost.loads >= 3);
      await cutReplica(world, pair);
      void world.valve.allow(GAP_STEPS);
      await lost.takeRangesUntil(size, () => world.valve.exhausted);

      await failOverWithout(lost, world, pair);
      expect(await world.countLost(pair.primary.port)).toBe(GAP_STEPS);
      const fresh = await world.addInstance();
      await fresh.takeRangesUntil(MAX_RANGE_SIZE, () => fresh.count > (GAP_STEPS + 1) * MAX_RANGE_SIZE);
      await world.check(1);
    });

    it('gives no ID twice when the record of the server was among the updates lost', async () => {
      const { pair, world } = await makePair(false);
      const [first, lost] = [await world.addInstance(), await world.addInstance()];
      await pair.waitForReplica();
      await pair.stopReplication();
      await first.takeUntil(() => first.loads >= 1);
      await world.valve.close();
      void world.valve.allow(GAP_STEPS - 2);
      await lost.takeUntil(() => world.valve.exhausted);
      await lost.drain();

      await failOverWithout(lost, world, pair);
      // It knows of the record, and of less IDs than were given.
      const { loads } = first;
      await first.takeUntil(() => first.loads > loads + 1);
      await world.countLost(pair.primary.port);
      const fresh = await world.addInstance();
      await fresh.takeUntil(() => fresh.count >= GAP_STEPS * OPTIONS.maxStep);
      await world.check(1);
      expect(world.failovers).toHaveLength(1);
    });
  });
}
