import { SystemClock, type WorkerStore } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import type { EtcdAccess } from '../../../libs/registry/src/stores/etcd/etcd-address';
import { strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { inTime, LeaseRig, type LeaseRigOptions, pass, POOL_GRACE_MS, REPORT_MS } from '../../support/fakes/lease-rig';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { recovered } from '../../support/recovered';
import { EtcdCluster, type EtcdServer, startCluster, startEtcd } from '../../support/servers/etcd';
import { stopwatch } from '../../support/starvation';
import { until } from '../../support/until';

const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
/** A request has 1.5 s at each of three endpoints, and one for all else, without what processes wait for a processor. */
const BOUND_MS = 3 * 1500 + 1000;
const LEASE_TTL_MS = 3_600_000;

let stores: WorkerStore[];
let clock: FakeClock;
let name: string;

beforeEach(() => {
  [stores, clock, name] = [[], new FakeClock(), `leaf-${Math.random()}`];
});
afterEach(async () => {
  for (const store of stores) await store.close();
});

/** It uses the endpoints in their order. */
function open(access: EtcdAccess): WorkerStore {
  const context = { clock: new SystemClock(), random: () => 0, onCloseProblem: () => undefined };
  const { store } = strategyOf({ strategy: 'etcd', etcd: access, name }).create(context);
  stores.push(store);
  return store;
}

/** One server on a pool of three worker IDs. */
function rig(endpoints: string, ip: string): LeaseRig {
  const options: LeaseRigOptions = { policy: 'pool', instance: { ip }, leaseTtlMs: LEASE_TTL_MS, maxWorkerId: 2 };
  return new LeaseRig(clock, open({ endpoints }), { ...options, maxClockOffsetMs: 0 });
}

/** What `act` resolves or rejects with, and that it takes less than the bound. */
async function bounded<T>(act: Promise<T>): Promise<T> {
  const time = stopwatch();
  try {
    return await act;
  } finally {
    expect(time()).toBeLessThan(BOUND_MS);
  }
}

describe('a cluster of three', () => {
  let cluster: EtcdCluster;

  beforeAll(async () => (cluster = await startCluster(3)));
  afterAll(() => cluster.stop());

  it('serves while one member is killed or suspended, and refuses without a majority', async () => {
    const server = await rig(cluster.endpoints, '10.0.0.1').start();
    const leader = await cluster.leader();
    await leader.kill();
    await bounded(recovered(() => open({ endpoints: cluster.endpoints }).readRegistry()));
    const others = cluster.servers.filter((each) => each !== leader);
    await bounded(cluster.leader(others));
    await pass([server], clock, REPORT_MS);
    await leader.restart();

    for (const each of cluster.servers) {
      await each.suspend();
      await cluster.leader(cluster.servers.filter((other) => other !== each));
      await bounded(recovered(() => open({ endpoints: cluster.endpoints }).readRegistry()));
      await each.resume();
    }
    await pass([server], clock, 4 * REPORT_MS);
    server.failures.splice(0);
    await server.report();
    expect(server.failures).toStrictEqual([]);

    const [first, second] = cluster.servers as [EtcdServer, EtcdServer];
    await Promise.all([first.kill(), second.suspend()]);
    const ceiling = server.lease.ceiling;
    await clock.advance(REPORT_MS);
    await bounded(server.report());
    expect(server.failures).toEqual([expect.objectContaining(UNREACHABLE)]);
    expect(server.lease.ceiling).toBe(ceiling);
    expect(server.ids.tryNext()).toBeDefined();
    await clock.advance(LEASE_TTL_MS);
    expect(server.ids.tryNext()).toBeUndefined();

    await second.resume();
    await first.restart();
    await cluster.leader();
    await recovered(async () => {
      await server.report();
      return open({ endpoints: cluster.endpoints }).readRegistry();
    });
    await pass([server], clock, 2 * REPORT_MS);
    expect(server.ids.tryNext()).toBeDefined();
    expect(server.losses).toStrictEqual([]);
  });
});

describe('a member whose answers are lost', () => {
  let server: EtcdServer;
  let proxy: TcpProxy;

  beforeAll(async () => (server = await startEtcd()));
  afterAll(() => server.stop());
  beforeEach(async () => (proxy = await TcpProxy.start(server.port)));
  afterEach(() => proxy.stop());

  it('has executed the write, which the lease recognizes when another member has compared in vain', async () => {
    const holder = await rig(`http://127.0.0.1:${proxy.port},${server.endpoint}`, '10.0.0.1').start();
    proxy.blackhole('answers');
    await clock.advance(REPORT_MS);
    await bounded(holder.report());
    expect([holder.failures, holder.losses]).toEqual([[], []]);
    expect(holder.lease.ceiling).toBe(clock.now() + LEASE_TTL_MS);
  });

  it('has executed the acquisition, which takes one worker ID', async () => {
    // The registry is past its grace period.
    await (await rig(server.endpoint, '10.0.0.2').start()).lease.release();
    const store = open({ endpoints: `http://127.0.0.1:${proxy.port},${server.endpoint}` });
    const [create, replace] = [store.create.bind(store), store.replace.bind(store)];
    const lost =
      <Call extends unknown[], Result>(write: (...call: Call) => Result) =>
      (...call: Call): Result => {
        proxy.blackhole('answers');
        return write(...call);
      };
    Object.assign(store, { create: lost(create), replace: lost(replace) });
    const holder = new LeaseRig(clock, store, { policy: 'pool', maxWorkerId: 2, maxClockOffsetMs: 0 });
    await bounded(holder.start());
    const held = (await open({ endpoints: server.endpoint }).list()).filter(({ record }) => !record.free);
    expect(held.map(({ workerId }) => workerId)).toEqual([holder.workerId]);
  });

  it('compares the clock with that of etcd, to within a second', async () => {
    const [source] = await open({ endpoints: server.endpoint }).timeSources();
    expect(source?.name).toBe(`127.0.0.1:${server.port}`);
    expect(Math.abs((await source!.ask()) - Date.now())).toBeLessThan(2000);
  });
});

describe('a cluster that lost its data', () => {
  let server: EtcdServer;

  beforeEach(async () => (server = await startEtcd()));
  afterEach(() => server.stop());

  it.each([
    ['emptied', (): Promise<() => Promise<void>> => Promise.resolve(() => server.empty())],
    ['restored from a snapshot', () => new EtcdCluster([server]).backUp()],
  ])('%s makes newcomers wait until the holders have registered again', async (_, save) => {
    const early = await rig(server.endpoint, '10.0.0.1').start();
    const loseData = await save();
    const late = await rig(server.endpoint, '10.0.0.2').start();
    await pass([early, late], clock, 4 * REPORT_MS);
    const held = [early.workerId, late.workerId];
    await loseData();
    const newcomer = rig(server.endpoint, '10.0.0.3');
    const began = clock.now();
    const acquired = newcomer.lease.acquire();
    await until('the wait of the newcomer', () => clock.sleeping > 0);
    await Promise.all([early.report(), late.report()]);
    await inTime(clock, acquired);
    expect(clock.now() - began).toBeGreaterThanOrEqual(POOL_GRACE_MS);
    expect([early.workerId, late.workerId, newcomer.workerId]).toEqual([...held, 3 - held[0]! - held[1]!]);
    expect([early.registeredAgain, late.registeredAgain]).toEqual([[held[0]], [held[1]]]);
    expect([early.losses, late.losses]).toEqual([[], []]);
  });

  it('restored from a copy of its disk is recognized by a server that has seen more', async () => {
    const holder = await rig(server.endpoint, '10.0.0.1').start();
    const loseData = await server.copyData();
    await server.restart();
    await pass([holder], clock, 4 * REPORT_MS);
    const { workerId } = holder;
    await loseData();
    await holder.report();
    const { document } = await open({ endpoints: server.endpoint }).readRegistry();
    expect(document).toMatchObject({ generation: 2, floor: undefined });
    expect([holder.workerId, holder.losses, holder.registeredAgain]).toEqual([workerId, [], [workerId]]);
  });
});
