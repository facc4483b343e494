import { FakeClock, type LeaseHolder, systemRandom, type WorkerClaim, type WorkerRegistry } from '@leaf/core';
import type { PoolRecord } from '../../libs/registry/src/zk-recycle/pool-record';
import type { ZkRecycleRegistry } from '../../libs/registry/src/zk-recycle/zk-recycle-registry';
import { startZookeeper, type ZookeeperServer } from '../support/zookeeper';
import { requireZookeeperClient } from '../support/zookeeper-client';
import { workerRegistryContract } from './worker-registry.contract';
import { holderAt, LOST, type LossySession, NAME, openSession, UNREACHABLE, zkRecycle } from './zk-registries';

const NOW = 1_700_000_000_000;
const TTL = 3_600_000;
const MARGIN = 60_000;
const ROOT = `/snowflake/${NAME}/recycle/workers`;

let server: ZookeeperServer;
let database: string;
const sessions = new WeakMap<WorkerRegistry, LossySession>();

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());

workerRegistryContract('ZkRecycleRegistry', {
  instances: 16,
  stock: true,
  twin: 'gets-another',
  now: NOW,
  reset: async () => {
    database = await server.createDatabase();
  },
  open: (instance) => {
    const session = openSession(database);
    const registry = zkRecycle(session, {}, new FakeClock(NOW));
    sessions.set(registry, session);
    return Promise.resolve({ registry, holder: holderAt(instance), close: () => registry.close() });
  },
  failNextWrite: (registry, moment) => sessions.get(registry)?.failNextWrite(moment),
});

describe('zk_recycle', () => {
  let session: LossySession;
  let clock: FakeClock;

  beforeEach(async () => {
    clock = new FakeClock(NOW);
    session = openSession(await server.createDatabase());
    await session.ensurePath(ROOT);
  });
  afterEach(() => session.close());

  function open(maxWorkerId = 3): ZkRecycleRegistry {
    return zkRecycle(session, { maxWorkerId }, clock, systemRandom);
  }

  function acquire(registry = open(), holder: LeaseHolder = holderAt(0)): Promise<WorkerClaim> {
    return registry.acquire(holder, (recorded) => Math.max(clock.now() + TTL, recorded + 1));
  }

  async function fill(records: readonly Partial<PoolRecord>[]): Promise<void> {
    const base = { state: 'notuse', ip: '10.0.0.9', port: '80', leaseId: 'earlier', ceiling: NOW - TTL };
    for (const [n, record] of records.entries()) {
      await session.create(`${ROOT}/${n}`, JSON.stringify({ ...base, ...record }), 'persistent');
    }
  }

  async function read(workerId: number): Promise<PoolRecord> {
    const node = await session.getData(`${ROOT}/${workerId}`);
    return JSON.parse(node!.data) as PoolRecord;
  }

  it('records state, holder and ceiling in one node', async () => {
    const registry = open();
    const holder = holderAt(0);
    const claim = await acquire(registry, holder);
    const held = { state: 'inuse', ip: '10.0.0.7', port: '8080', leaseId: holder.leaseId, ceiling: NOW + TTL };
    expect(await read(claim.workerId)).toEqual(held);
    const extended = await registry.extend(claim, NOW + TTL + 5);
    expect(await read(claim.workerId)).toEqual({ ...held, ceiling: NOW + TTL + 5 });
    await registry.release(extended, NOW + 9);
    expect(await read(claim.workerId)).toEqual({ ...held, state: 'notuse', ceiling: NOW + 9 });
    expect(await session.children(ROOT)).toHaveLength(1);
  });

  it('gives those that were never used first, then those used longest ago', async () => {
    await fill([{ ceiling: NOW - 1 }, { ceiling: NOW - 4 }, { ceiling: NOW - 2 }, { ceiling: NOW - 3 }]);
    await session.remove(`${ROOT}/2`, 0);
    expect(await acquire()).toMatchObject({ workerId: 2, previousCeiling: 0 });
    const older = [await acquire(), await acquire()];
    expect(older.map(({ workerId }) => workerId).sort()).toEqual([1, 3]);
    expect(older.map(({ previousCeiling }) => previousCeiling).sort()).toEqual([NOW - 4, NOW - 3]);
    expect(await acquire()).toMatchObject({ workerId: 0, previousCeiling: NOW - 1 });
  });

  it('looks again when others were faster with all that it has seen', async () => {
    await fill([{}, {}]);
    const write = session.setData.bind(session);
    let rivals = 2;
    session.setData = async (path, data, version) => {
      if (rivals-- > 0) await write(path, (await session.getData(path))!.data, version);
      return write(path, data, version);
    };
    expect(await acquire(open(1))).toMatchObject({ previousCeiling: NOW - TTL, ceiling: NOW + TTL });
    expect(rivals).toBe(-1);
  });

  it('fills up a pool of which only a part was made', async () => {
    await session.create(
      `${ROOT}/1`,
      JSON.stringify({ state: 'notuse', ip: 'a', port: '1', leaseId: 'b', ceiling: 7 }),
      'persistent',
    );
    for (const name of ['4', '02', 'workId:3', '-1']) await session.create(`${ROOT}/${name}`, '', 'persistent');
    const claims = await Promise.all(Array.from({ length: 4 }, () => acquire()));
    expect(claims.map(({ workerId }) => workerId).sort()).toEqual([0, 1, 2, 3]);
  });

  it('leaves a free worker alone whose ceiling is still to come, without asking for a proposal', async () => {
    await fill([{ ceiling: NOW + 1 }, { ceiling: NOW }, { ceiling: NOW + 2 * TTL }, { ceiling: NOW + 1 }]);
    const seen: number[] = [];
    const propose = (recorded: number): number => {
      seen.push(recorded);
      return NOW + TTL;
    };
    expect(await open().acquire(holderAt(0), propose)).toMatchObject({ workerId: 1 });
    await expect(open().acquire(holderAt(1), propose)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    expect(seen).toEqual([NOW]);
    await clock.advance(1);
    expect([0, 3]).toContain((await open().acquire(holderAt(1), propose)).workerId);
  });

  it('never gives one that is held, and says how full the pool is', async () => {
    await fill([
      { state: 'inuse', ceiling: NOW + TTL },
      { state: 'inuse', ceiling: NOW - MARGIN },
      { ceiling: NOW + 5 },
    ]);
    await session.create(`${ROOT}/3`, 'garbage', 'persistent');
    await expect(acquire()).rejects.toMatchObject({
      code: 'LEAF_WORKERS_USED_UP',
      message: expect.stringMatching(
        /zk_recycle.*its 4: 2 in use, the first until 2023-11-14T22:12:20\.000Z; 1 free, the first not before 2023-11-14T22:13:20\.005Z; 1 unreadable, as .*\/workers\/3/,
      ),
    });
    expect((await session.getData(`${ROOT}/3`))!.data).toBe('garbage');
  });

  it('takes over one whose holder has let its ceiling pass, when none is free; that holder has lost', async () => {
    const registry = open(0);
    const claim = await acquire(registry);
    await clock.advance(TTL + MARGIN);
    await expect(acquire(open(0))).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    await clock.advance(1);
    expect(await acquire(open(0))).toMatchObject({ workerId: 0, previousCeiling: claim.ceiling });
    await expect(registry.extend(claim, clock.now() + TTL)).rejects.toMatchObject(LOST);
    await expect(registry.release(claim, NOW)).rejects.toMatchObject(LOST);
  });

  it('lets a holder that is late go on as long as nobody has taken its worker', async () => {
    const registry = open(0);
    const claim = await acquire(registry);
    await clock.advance(3 * TTL);
    expect(await registry.extend(claim, clock.now() + TTL)).toMatchObject({ ceiling: clock.now() + TTL });
    await expect(acquire(open(0))).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });

  it('reclaims those given up and no other, and keeps their ceilings', async () => {
    const [registry, other] = [open(), open()];
    const claim = await acquire(registry);
    await clock.advance(1);
    const late = await acquire(other);
    await clock.advance(TTL + MARGIN);
    const before = { ...(await read(claim.workerId)) };
    await other.maintain();
    expect(await read(claim.workerId)).toEqual({ ...before, state: 'notuse' });
    expect(await read(late.workerId)).toMatchObject({ state: 'inuse' });
    await expect(registry.extend(claim, clock.now() + TTL)).rejects.toMatchObject(LOST);
    expect(await other.extend(late, clock.now() + TTL)).toMatchObject({ workerId: late.workerId });
  });

  it('reclaims once, however many do it, also while workers are extended and taken', async () => {
    const registries = Array.from({ length: 4 }, () => open(31));
    await fill(Array.from({ length: 32 }, () => ({ state: 'inuse', leaseId: 'dead' }) as const));
    const taken = await Promise.all([
      ...registries.map((registry) => acquire(registry)),
      ...registries.map((registry) => registry.maintain()),
    ]);
    const claims = taken.flatMap((each) => each ?? []);
    expect(new Set(claims.map(({ workerId }) => workerId)).size).toBe(4);
    const records = await Promise.all(Array.from({ length: 32 }, (_, n) => read(n)));
    expect(records.filter(({ state }) => state === 'inuse')).toHaveLength(4);
    expect(records.filter(({ ceiling }) => ceiling === NOW - TTL)).toHaveLength(28);
    for (const [n, claim] of claims.entries()) await registries[n]!.extend(claim, NOW + 2 * TTL);
  });

  it('does not reclaim what was extended after it was read', async () => {
    const [registry, job] = [open(), open()];
    const claim = await acquire(registry);
    await clock.advance(TTL + MARGIN + 1);
    const path = `${ROOT}/${claim.workerId}`;
    let extended: Promise<WorkerClaim> | undefined;
    const getData = session.getData.bind(session);
    // The job sleeps between its read and its write.
    session.getData = async (asked) => {
      const node = await getData(asked);
      if (asked === path) extended ??= registry.extend(claim, clock.now() + TTL);
      await extended;
      return node;
    };
    await job.maintain();
    expect(await read(claim.workerId)).toMatchObject({ state: 'inuse', ceiling: clock.now() + TTL });
  });

  it('has nothing to reclaim before anybody was there', async () => {
    const empty = zkRecycle(session, { name: 'empty' });
    await expect(empty.maintain()).resolves.toBeUndefined();
    expect(await session.getData('/snowflake/empty')).toBeUndefined();
  });

  it('is content with an extension that turns out to have recorded enough', async () => {
    const registry = open();
    const claim = await acquire(registry);
    session.failNextWrite('after');
    await expect(registry.extend(claim, NOW + 3 * TTL)).rejects.toMatchObject(UNREACHABLE);
    expect(await registry.extend(claim, NOW + 2 * TTL)).toMatchObject({ ceiling: NOW + 3 * TTL });
    expect(await read(claim.workerId)).toMatchObject({ ceiling: NOW + 3 * TTL });
  });

  it.each(['before', 'after'] as const)('finds out about a release cut off %s it was applied', async (moment) => {
    const registry = open();
    const claim = await acquire(registry);
    session.failNextWrite(moment);
    await expect(registry.release(claim, NOW)).rejects.toMatchObject(UNREACHABLE);
    await registry.release(claim, NOW);
    expect(await read(claim.workerId)).toMatchObject({ state: 'notuse', ceiling: NOW });
  });

  it('leaves a worker in use when the answer to its acquisition is lost, and gives another one', async () => {
    session.failNextWrite('after', 'create');
    await expect(acquire()).rejects.toMatchObject(UNREACHABLE);
    const { workerId } = await acquire();
    const records = await Promise.all((await session.children(ROOT)).map((name) => read(Number(name))));
    expect(records.map(({ state }) => state)).toEqual(['inuse', 'inuse']);
    expect(await session.children(ROOT)).toContain(String(workerId));
  });

  it('keeps to the 1024 worker IDs of the pool when the layout holds more', async () => {
    for (let n = 0; n < 1023; n++) await session.create(`${ROOT}/${n}`, '', 'persistent');
    expect(await acquire(open(4095))).toMatchObject({ workerId: 1023 });
    await expect(acquire(open(4095))).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
  });
});
