import type { StoredRegistry, WorkerRecord, WorkerStore } from '@leaf-ids/core';
import { mayBeUsed } from '@leaf-ids/core/internal';
import { reveal } from '../../../libs/registry/src/stores/zookeeper/hidden-text';
import { type NodeLayout, PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { ZookeeperFault, type ZookeeperFaultKind } from '../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import type { ZookeeperWorkerStore } from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';
import { workerStoreContract } from '../../support/contract/worker-store.contract';
import { type LossySession, NAME, openSession, removeTree, zkStore } from '../../support/contract/zk-stores';

const NOW = 1_700_000_000_000;
const usedAt =
  (now: number) =>
  (record: WorkerRecord): boolean =>
    mayBeUsed(record, now, 0);
const FOREVER = `/snowflake/${NAME}/forever`;
const WORKERS = `/snowflake/${NAME}/recycle/workers`;
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

let server: ZookeeperServer;
let database: string;

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());

const LAYOUTS: readonly [string, NodeLayout][] = [
  ['the nodes of the Java service', SEQUENTIAL],
  ['a pool in ZooKeeper', PLAIN],
];

describe.each(LAYOUTS)('%s', (name, layout) => {
  const sessions = new WeakMap<WorkerStore, LossySession>();
  workerStoreContract(name, {
    numbers: layout === SEQUENTIAL,
    onePerInstance: false,
    reset: async () => {
      database = await server.createDatabase();
    },
    open: () => {
      const session = openSession(database);
      const store = zkStore(session, layout);
      sessions.set(store, session);
      return Promise.resolve(store);
    },
    remove: async (what) => {
      const nodes = `/snowflake/${NAME}`;
      const admin = openSession(database);
      await removeTree(
        admin,
        what === 'document'
          ? `${nodes}/registry`
          : `${nodes}/${layout.records}/${layout.nameOf(what.workerId, what.record.instance)}`,
      );
      await admin.close();
    },
    failNextWrite: (store, moment) => sessions.get(store)?.failNextWrite(moment),
  });
});

function recordOf(ip: string, more: Partial<WorkerRecord> = {}): WorkerRecord {
  return { instance: { ip, port: 8080 }, leaseId: 'f00d', write: 1, ceiling: NOW + 1, free: false, ...more };
}

describe('a store in ZooKeeper', () => {
  let session: LossySession;
  let registry: StoredRegistry;
  let sequential: ZookeeperWorkerStore;
  let plain: ZookeeperWorkerStore;

  beforeEach(async () => {
    session = openSession(await server.createDatabase());
    [sequential, plain] = [zkStore(session, SEQUENTIAL), zkStore(session, PLAIN)];
    for (const path of [FOREVER, WORKERS]) await session.ensurePath(path);
    registry = await sequential.readRegistry();
  });
  afterEach(() => session.close());

  const dataOf = async (path: string): Promise<string> => (await session.getData(path))?.data ?? '';
  const fails = (kind: ZookeeperFaultKind) => () => Promise.reject(new ZookeeperFault(kind, 'Not now.'));

  describe('with the nodes of the Java service', () => {
    it('leaves three keys to Java, an odd ceiling to our version 1, and the rest in white space', async () => {
      const made = await sequential.create(registry, recordOf('10.0.0.7', { ceiling: NOW }), undefined);
      expect(made).toMatchObject({ workerId: 0, record: { ceiling: NOW + 1, leaseId: 'f00d', write: 1 } });
      const data = await dataOf(`${FOREVER}/10.0.0.7:8080-0000000000`);
      expect(JSON.parse(data)).toEqual({ ip: '10.0.0.7', port: '8080', timestamp: NOW + 1 });
      expect(data.trimEnd()).toBe(`{"ip":"10.0.0.7","port":"8080","timestamp":${NOW + 1}}`);
      expect(reveal(data)).toBe('["f00d",1,false]');
      const freed = await sequential.replace(made!, recordOf('10.0.0.7', { ceiling: NOW, free: true }));
      expect(freed?.record.ceiling).toBe(NOW);
    });

    it.each([
      ['', undefined],
      ['\n', undefined],
      [' \t\r\n \t', undefined],
    ])('takes a node that ends with %j for one of Java', async (end, leaseId) => {
      const data = `{"ip":"10.0.0.7","port":"8080","timestamp":${NOW}}${end}`;
      await session.create(`${FOREVER}/10.0.0.7:8080-`, data, 'sequential');
      const instance = { ip: '10.0.0.7', port: 8080 };
      const [found] = await sequential.list(instance);
      expect(found).toMatchObject({ workerId: 0, record: { instance, leaseId, write: 0, ceiling: NOW, free: false } });
      expect(await sequential.replace(found!, recordOf('10.0.0.7'))).toMatchObject({ record: { leaseId: 'f00d' } });
    });

    it.each(['leaf-0.leaf-svc', 'a-0000000009', '::1', 'fe80::1-2'])('knows the node of %s again', async (ip) => {
      await sequential.create(registry, recordOf('8-10.0.0.7'), undefined);
      await sequential.create(registry, recordOf(`${ip}-x`), undefined);
      const made = await sequential.create(registry, recordOf(ip), undefined);
      expect(await sequential.list({ ip, port: 8080 })).toEqual([made]);
      expect(await sequential.list({ ip, port: 808 })).toStrictEqual([]);
      expect(made).toMatchObject({ workerId: 2 });
    });

    it.each(['', 'not JSON', '{"ip":"10.0.0.7","port":"8080"}', '{"timestamp":"soon"}', '{"timestamp":-1}'])(
      'does not trust a node with %j, names it, and leaves it as it is',
      async (data) => {
        const path = `${FOREVER}/10.0.0.7:8080-0000000000`;
        await session.create(path.slice(0, -10), data, 'sequential');
        const INVALID = { code: 'LEAF_WORKER_FILE_INVALID', message: expect.stringContaining(path) };
        await expect(sequential.list({ ip: '10.0.0.7', port: 8080 })).rejects.toMatchObject(INVALID);
        await expect(sequential.read(0)).rejects.toMatchObject(INVALID);
        expect(await sequential.list()).toStrictEqual([]);
        expect(await session.getData(path)).toMatchObject({ data, version: 0 });
      },
    );

    it('gives a number to the server that made its node first, even if answers were lost', async () => {
      const first = await sequential.create(registry, recordOf('10.0.0.1'), 5);
      // The second one dies before it looks whether the number was given.
      await session.create(
        `${FOREVER}/10.0.0.2:8080-0000000005`,
        await dataOf(`${FOREVER}/10.0.0.1:8080-0000000005`),
        'persistent',
      );
      expect(await sequential.list({ ip: '10.0.0.2', port: 8080 })).toStrictEqual([]);
      expect(await sequential.list()).toEqual([first]);
      expect(await sequential.read(5)).toEqual(first);
      expect(await sequential.create(registry, recordOf('10.0.0.3'), 5)).toBeUndefined();
      expect(await session.children(FOREVER)).toHaveLength(2);
    });
  });

  describe('with a pool', () => {
    it('keeps the keys of its version 1', async () => {
      const made = await plain.create(registry, recordOf('10.0.0.7'), 3);
      const known = { ip: '10.0.0.7', port: '8080', leaseId: 'f00d', ceiling: NOW + 1 };
      expect(JSON.parse(await dataOf(`${WORKERS}/3`))).toEqual({ state: 'inuse', ...known, write: 1 });
      await plain.replace(made!, recordOf('10.0.0.7', { free: true, write: 2 }));
      expect(JSON.parse(await dataOf(`${WORKERS}/3`))).toEqual({ state: 'notuse', ...known, write: 2 });
      await session.create(`${WORKERS}/4`, JSON.stringify({ state: 'inuse', ...known }), 'persistent');
      expect(await plain.read(4)).toMatchObject({ record: recordOf('10.0.0.7', { write: 0 }) });
    });

    it('lists only records that it can read', async () => {
      const record = { state: 'inuse', ip: 'a', port: '1', leaseId: 'b', ceiling: 7 };
      const broken = [
        { ...record, state: 'x' },
        { ...record, ip: 1 },
        { ...record, ceiling: -1 },
        { ...record, write: 'x' },
      ];
      for (const [n, data] of ['', 'null', '[]', ...broken.map((each) => JSON.stringify(each))].entries()) {
        await session.create(`${WORKERS}/${n}`, data, 'persistent');
      }
      for (const name of ['04', 'workId:3', '-1', '1e3']) await session.create(`${WORKERS}/${name}`, '', 'persistent');
      expect(await plain.list()).toStrictEqual([]);
      await expect(plain.read(0)).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
    });
  });

  it('names the workers in use in the other layout', async () => {
    expect(await plain.otherStrategies(usedAt(0))).toBeUndefined();
    const { record } = (await sequential.create(registry, recordOf('10.0.0.7'), undefined))!;
    expect(await plain.otherStrategies(usedAt(record.ceiling + 1))).toBeUndefined();
    expect(await plain.otherStrategies(usedAt(record.ceiling))).toMatch(/^1 worker ID.* below /);
    expect(await sequential.otherStrategies(usedAt(0))).toBeUndefined();
  });

  it('names the workers that a Java server has used within ten of its reports, for a pool', async () => {
    const forever = `/snowflake/${NAME}/forever`;
    const data = JSON.stringify({ ip: '10.0.0.9', port: '8080', timestamp: 1_000_000 });
    await session.ensurePath(forever);
    await session.create(`${forever}/10.0.0.9:8080-0000000003`, data, 'persistent');
    expect(await plain.otherStrategies(usedAt(1_030_000))).toBe(`1 worker IDs in use below ${forever}`);
    expect(await plain.otherStrategies(usedAt(1_030_001))).toBeUndefined();
  });

  it('names the workers that a server of the Java fork has used within ten of its reports', async () => {
    const inUse = `/snowflake/${NAME}/recycle/inuse`;
    const data = { workId: 7, lastUsedIp: '10.0.0.9', lastUsedPort: '8080', lastUsedTimestamp: 1_000_000 };
    await session.ensurePath(inUse);
    await session.create(`${inUse}/workId:7`, JSON.stringify(data), 'persistent');
    await session.create(`${inUse}/workId:8`, JSON.stringify({ ...data, lastUsedTimestamp: null }), 'persistent');
    for (const store of [plain, sequential]) {
      expect(await store.otherStrategies(usedAt(1_030_000))).toBe(`1 worker IDs in use below ${inUse}`);
      expect(await store.otherStrategies(usedAt(1_030_001))).toBeUndefined();
    }
  });

  it('does not go on from a document that it cannot read', async () => {
    for (const data of ['', '{}', '{"id":"a","layout":"b","origin":"c","madeAt":1,"began":1,"generation":1}']) {
      await session.create(`/snowflake/${NAME}/registry`, data, 'persistent');
      await expect(sequential.readRegistry()).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
      await session.remove(`/snowflake/${NAME}/registry`, 0);
    }
  });

  it('lists the servers that are up, and asks those with a URL for the time', async () => {
    const store = zkStore(session, PLAIN, { url: 'http://10.0.0.7:8080' });
    await expect(store.peers()).resolves.toStrictEqual([]);
    const peers = `/snowflake/${NAME}/temporary`;
    await session.ensurePath(peers);
    const whole = { ip: '10.0.0.8', port: '8080', url: 'http://10.0.0.8:8080', workerId: 8 };
    await session.create(`${peers}/10.0.0.8:8080`, JSON.stringify(whole), 'persistent');
    await session.create(`${peers}/10.0.0.9:8080`, 'torn {', 'persistent');
    await expect(store.peers()).resolves.toEqual([
      { instance: '10.0.0.8:8080', workerId: 8 },
      { instance: '10.0.0.9:8080', workerId: undefined },
    ]);
    await expect(store.timeSources()).resolves.toMatchObject([{ name: '10.0.0.8:8080' }]);
  });

  it.each([
    ['denied', 'LEAF_CONFIG_INVALID'],
    ['invalid', 'LEAF_CONFIG_INVALID'],
    ['unreachable', 'LEAF_REGISTRY_UNREACHABLE'],
    ['unknown-outcome', 'LEAF_REGISTRY_UNREACHABLE'],
  ] as const)('says what %s means, whatever is asked', async (kind, code) => {
    const made = await plain.create(registry, recordOf('10.0.0.7'), 3);
    session.setData = session.getData = session.children = session.childrenVersion = session.ensurePath = fails(kind);
    await expect(plain.replace(made!, recordOf('10.0.0.7', { write: 2 }))).rejects.toMatchObject({ code });
    await expect(plain.create(registry, recordOf('10.0.0.7'), 4)).rejects.toMatchObject({ code });
    for (const ask of [plain.list(), plain.read(3), plain.readRegistry(), plain.peers(), plain.timeSources()]) {
      await expect(ask).rejects.toMatchObject({ code });
    }
  });

  it('writes nothing twice when the answer is lost', async () => {
    session.failNextWrite('after', 'create');
    await expect(sequential.create(registry, recordOf('10.0.0.7'), undefined)).rejects.toMatchObject(UNREACHABLE);
    expect(await sequential.list({ ip: '10.0.0.7', port: 8080 })).toHaveLength(1);
  });
});
