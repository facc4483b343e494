import type { WorkerClaim, WorkerRegistry } from '@leaf/core';
import { startZookeeper, type ZookeeperServer } from '../support/zookeeper';
import { requireZookeeperClient } from '../support/zookeeper-client';
import { workerRegistryContract } from './worker-registry.contract';
import { holderAt, LOST, type LossySession, NAME, openSession, UNREACHABLE, zkNormal } from './zk-registries';

const NOW = 1_700_000_000_000;
const HORIZON = 10_000;
const ROOT = `/snowflake/${NAME}/forever`;

let server: ZookeeperServer;
let database: string;
const sessions = new WeakMap<WorkerRegistry, LossySession>();

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());

workerRegistryContract('ZkNormalRegistry', {
  instances: 16,
  stock: true,
  twin: 'takes-over',
  reset: async () => {
    database = await server.createDatabase();
  },
  open: (instance) => {
    const session = openSession(database);
    const registry = zkNormal(session);
    sessions.set(registry, session);
    return Promise.resolve({ registry, holder: holderAt(instance), close: () => registry.close() });
  },
  failNextWrite: (registry, moment) => sessions.get(registry)?.failNextWrite(moment),
});

describe('zk_normal', () => {
  let session: LossySession;

  beforeEach(async () => {
    session = openSession(await server.createDatabase());
    await session.ensurePath(ROOT);
  });
  afterEach(() => session.close());

  async function read(name: string): Promise<{ data: string; version: number } | undefined> {
    return session.getData(`${ROOT}/${name}`);
  }

  function acquire(ip = '10.0.0.7', propose = (): number => NOW): Promise<WorkerClaim> {
    return zkNormal(session).acquire(holderAt(0, ip), propose);
  }

  it('leaves what the Java service reads: three keys, odd as acquired, even as extended', async () => {
    const registry = zkNormal(session);
    const claim = await registry.acquire(holderAt(0), () => NOW);
    const name = '10.0.0.7:8080-0000000000';
    expect(claim).toEqual({ workerId: 0, previousCeiling: 0, ceiling: NOW + 1, version: '1' });
    expect((await read(name))!.data).toBe(`{"ip":"10.0.0.7","port":"8080","timestamp":${NOW + 1}}`);
    const extended = await registry.extend(claim, NOW + HORIZON + 1);
    expect(extended).toMatchObject({ ceiling: NOW + HORIZON + 2, version: '2' });
    expect((await read(name))!.data).toBe(`{"ip":"10.0.0.7","port":"8080","timestamp":${NOW + HORIZON + 2}}`);
    await registry.release(extended, NOW + 7);
    expect((await read(name))!.data).toBe(`{"ip":"10.0.0.7","port":"8080","timestamp":${NOW + 7}}`);
  });

  it('goes on from the node of a Java service', async () => {
    const data = `{"ip":"10.0.0.7","port":"8080","timestamp":${NOW}}`;
    await session.create(`${ROOT}/other:1-`, '{}', 'sequential');
    await session.create(`${ROOT}/10.0.0.7:8080-`, data, 'sequential');
    expect(await acquire()).toMatchObject({ workerId: 1, previousCeiling: NOW });
  });

  it.each(['leaf-0.leaf-svc', 'a-0000000009', '::1', 'fe80::1-2'])('knows the node of %s again', async (ip) => {
    await acquire('somebody-else');
    expect(await acquire(ip)).toMatchObject({ workerId: 1, previousCeiling: 0 });
    expect(await acquire(ip, () => NOW + HORIZON)).toMatchObject({ workerId: 1, previousCeiling: NOW + 1 });
    expect(await session.children(ROOT)).toHaveLength(2);
  });

  it('does not take the node of another port or of a longer name for its own', async () => {
    await acquire('8-10.0.0.7');
    await zkNormal(session).acquire({ ...holderAt(0), port: 808 }, () => NOW);
    await session.create(`${ROOT}/10.0.0.7:8080-x:8080-`, '', 'sequential');
    expect(await acquire()).toMatchObject({ workerId: 3, previousCeiling: 0 });
  });

  it('takes the lowest of several nodes', async () => {
    for (let n = 0; n < 3; n++) await session.create(`${ROOT}/10.0.0.7:8080-`, '{"timestamp":5}', 'sequential');
    expect(await acquire()).toMatchObject({ workerId: 0, previousCeiling: 5 });
  });

  it('finds the node again whose making was not answered', async () => {
    session.failNextWrite('after', 'create');
    await expect(acquire()).rejects.toMatchObject(UNREACHABLE);
    expect(await acquire()).toMatchObject({ workerId: 0, previousCeiling: 0 });
    expect(await session.children(ROOT)).toHaveLength(1);
  });

  it('takes the lowest as well when a twin makes one at the same time', async () => {
    const twins = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const registry = zkNormal(session);
        return registry.acquire(holderAt(0), (recorded) => Math.max(NOW, recorded + 1));
      }),
    );
    expect(new Set(twins.map(({ workerId }) => workerId))).toEqual(new Set([0]));
    expect(new Set(twins.map(({ ceiling }) => ceiling)).size).toBe(8);
  });

  it('gives up when others take the worker over again and again, and says whose it is', async () => {
    await acquire();
    const write = session.setData.bind(session);
    session.setData = async (...call) => {
      await write(...call);
      return write(...call);
    };
    await expect(acquire()).rejects.toMatchObject({
      code: 'LEAF_WORKER_HELD',
      message: expect.stringContaining('10.0.0.7:8080'),
    });
  });

  it('refuses a worker ID that the layout does not hold, and says what to do', async () => {
    const registry = zkNormal(session, { maxWorkerId: 1 });
    for (const n of [0, 1]) await registry.acquire(holderAt(n), () => NOW);
    await expect(registry.acquire(holderAt(2), () => NOW)).rejects.toMatchObject({
      code: 'LEAF_WORKERS_USED_UP',
      message: expect.stringMatching(/zk_normal.*10\.0\.0\.7:8082 worker ID 2.*0 to 1.*\/forever.*zk_recycle/),
    });
    expect(await registry.acquire(holderAt(1), () => NOW + HORIZON)).toMatchObject({ workerId: 1 });
  });

  it.each(['', 'not JSON', '{"ip":"10.0.0.7","port":"8080"}', '{"timestamp":"soon"}'])(
    'does not trust a node with %j, names it, and leaves it as it is',
    async (data) => {
      await session.create(`${ROOT}/10.0.0.7:8080-`, data, 'sequential');
      await expect(acquire()).rejects.toMatchObject({
        code: 'LEAF_WORKER_FILE_INVALID',
        message: expect.stringContaining(`${ROOT}/10.0.0.7:8080-0000000000`),
      });
      expect(await read('10.0.0.7:8080-0000000000')).toMatchObject({ data, version: 0 });
    },
  );

  it('lets a later process go on with a claim that it was told', async () => {
    await acquire('somebody-else');
    const { workerId, ceiling, version } = await acquire('::1');
    const later = zkNormal(session);
    const told = { workerId, previousCeiling: ceiling, ceiling: ceiling + HORIZON, version };
    const extended = await later.extend(told, NOW + HORIZON);
    expect(extended).toEqual({ ...told, ceiling: NOW + HORIZON, version: '2' });
    expect((await read('[::1]:8080-0000000001'))!.data).toContain('"ip":"::1","port":"8080"');
    await expect(zkNormal(session).extend(told, NOW + 2 * HORIZON)).rejects.toMatchObject(LOST);
    await expect(zkNormal(session).extend({ ...told, workerId: 7 }, NOW)).rejects.toMatchObject(LOST);
    const other = { ...told, workerId: 0, version: '1' };
    expect(await later.extend(other, NOW + HORIZON)).toEqual({ ...other, ceiling: NOW + HORIZON, version: '2' });
    expect((await read('somebody-else:8080-0000000000'))!.data).toContain('"ip":"somebody-else"');
  });

  it('finds out about extension after extension whose answers were lost', async () => {
    const registry = zkNormal(session);
    const claim = await registry.acquire(holderAt(0), () => NOW);
    for (let n = 1; n <= 3; n++) {
      session.failNextWrite('after');
      await expect(registry.extend(claim, NOW + n * HORIZON)).rejects.toMatchObject(UNREACHABLE);
    }
    expect(await registry.extend(claim, NOW + 4 * HORIZON)).toMatchObject({ ceiling: NOW + 4 * HORIZON, version: '5' });
  });

  it('is content with an extension that turns out to have recorded enough', async () => {
    const registry = zkNormal(session);
    const claim = await registry.acquire(holderAt(0), () => NOW);
    session.failNextWrite('after');
    await expect(registry.extend(claim, NOW + 2 * HORIZON)).rejects.toMatchObject(UNREACHABLE);
    expect(await registry.extend(claim, NOW + HORIZON)).toMatchObject({ ceiling: NOW + 2 * HORIZON, version: '2' });
  });

  it.each(['before', 'after'] as const)('finds out about a release cut off %s it was applied', async (moment) => {
    const registry = zkNormal(session);
    const claim = await registry.acquire(holderAt(0), () => NOW);
    session.failNextWrite(moment);
    await expect(registry.release(claim, NOW - 5)).rejects.toMatchObject(UNREACHABLE);
    await expect(registry.extend(claim, NOW + HORIZON)).rejects.toMatchObject(LOST);
    await registry.release(claim, NOW - 5);
    expect(await read('10.0.0.7:8080-0000000000')).toMatchObject({ version: 2 });
    expect(await acquire()).toMatchObject({ previousCeiling: NOW - 5 });
  });

  it('has lost when a twin has taken over and extended to the very ceiling of a lost extension', async () => {
    const [registry, twin] = [zkNormal(session), zkNormal(session)];
    const claim = await registry.acquire(holderAt(0), () => NOW);
    session.failNextWrite('before');
    await expect(registry.extend(claim, NOW + HORIZON)).rejects.toMatchObject(UNREACHABLE);
    await twin.extend(await twin.acquire(holderAt(0), () => NOW + 3), NOW + HORIZON);
    await expect(registry.extend(claim, NOW + HORIZON)).rejects.toMatchObject(LOST);
  });

  // The Java service compares nothing; half of its times are even.
  it.each([NOW + HORIZON - 2, NOW + HORIZON])(
    'has lost when somebody writes %i without comparing',
    async (timestamp) => {
      const registry = zkNormal(session);
      const claim = await registry.acquire(holderAt(0), () => NOW);
      session.failNextWrite('before');
      await expect(registry.extend(claim, NOW + HORIZON + 2)).rejects.toMatchObject(UNREACHABLE);
      await session.setData(`${ROOT}/10.0.0.7:8080-0000000000`, `{"timestamp":${timestamp}}`, 1);
      await expect(registry.extend(claim, NOW + HORIZON)).rejects.toMatchObject(LOST);
    },
  );

  it('asks again when a server that lags behind answers with what was there before', async () => {
    const registry = zkNormal(session);
    const claim = await registry.acquire(holderAt(0), () => NOW);
    const path = `${ROOT}/10.0.0.7:8080-0000000000`;
    const old = await session.getData(path);
    session.failNextWrite('after');
    await expect(registry.extend(claim, NOW + HORIZON)).rejects.toMatchObject(UNREACHABLE);
    const getData = session.getData.bind(session);
    let lagging = true;
    session.getData = (asked) => {
      const late = lagging && asked === path;
      if (late) lagging = false;
      return late ? Promise.resolve(old) : getData(asked);
    };
    expect(await registry.extend(claim, NOW + 2 * HORIZON)).toMatchObject({ version: '3' });
    expect(lagging).toBe(false);
  });

  it.each(['removed', 'garbage'])('has lost when its node is %s', async (what) => {
    const registry = zkNormal(session);
    const claim = await registry.acquire(holderAt(0), () => NOW);
    const path = `${ROOT}/10.0.0.7:8080-0000000000`;
    if (what === 'removed') await session.remove(path, 1);
    else await session.setData(path, 'garbage', 1);
    await expect(registry.extend(claim, NOW + HORIZON)).rejects.toMatchObject(LOST);
    await expect(registry.release(claim, NOW)).rejects.toMatchObject(LOST);
  });
});
