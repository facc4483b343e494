import type { StoredWorker, WorkerRecord } from '@leaf-ids/core';
import { PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { parseZookeeperAuth } from '../../../libs/registry/src/stores/zookeeper/zookeeper-address';
import type {
  ZookeeperSession,
  ZookeeperSessionOptions,
} from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import type { ZookeeperWorkerStore } from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';
import { NAME, openSession, zkStore } from '../../support/contract/zk-stores';
import { freePort } from '../../support/free-port';
import { recovered } from '../../support/recovered';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import { within } from '../../support/within';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';

/** To be waited for; a busy machine alone can use them up. */
const SHORT_MS = 1500;
const SHORT_SESSION_MS = 3000;
/** A clock that is asked fails after 1 s. */
const ASK_LIMIT_MS = 2000;
const UP = `/snowflake/${NAME}/temporary`;
const URL_7 = 'http://10.0.0.7:8080';
const INSTANCE = { ip: '10.0.0.7', port: 8080 };
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

let server: ZookeeperServer;
let proxy: TcpProxy;
let database: string;
let direct: ZookeeperSession;

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await TcpProxy.start(server.port);
  database = await server.createDatabase();
  direct = openSession(database);
});
afterEach(async () => {
  proxy.heal();
  await direct.close();
  await proxy.stop();
});

function throughProxy(): string {
  return database.replace(`:${server.port}`, `:${proxy.port}`);
}

describe.each([
  ['the nodes of the Java service', SEQUENTIAL],
  ['a pool', PLAIN],
])('a store in ZooKeeper: %s', (_name, layout) => {
  let session: ZookeeperSession;
  let store: ZookeeperWorkerStore;

  beforeEach(() => use(database));
  afterEach(async () => {
    // The end of a session holds the process up until it is answered, and the proxy with it.
    proxy.refuse();
    await store.close();
  });

  function use(hosts: string, limits: Partial<ZookeeperSessionOptions> = {}): void {
    session = openSession(hosts, limits);
    store = zkStore(session, layout, { url: URL_7 });
  }

  function recordOf(write: number): WorkerRecord {
    return { instance: INSTANCE, leaseId: 'a', write, ceiling: 1_700_000_000_001, free: false };
  }

  async function create(): Promise<StoredWorker> {
    const registry = await recovered(() => store.readRegistry());
    return (await recovered(() => store.create(registry, recordOf(1), 3)))!;
  }

  it('recognizes the outcome of a write whose reply is lost', async () => {
    use(throughProxy(), { callMs: SHORT_MS });
    const made = await create();
    const setData = session.setData.bind(session);
    session.setData = (...call) => {
      proxy.blackhole('answers');
      return setData(...call);
    };
    await expect(store.replace(made, recordOf(2))).rejects.toMatchObject({
      ...UNREACHABLE,
      retryable: true,
      cause: { kind: 'unknown-outcome' },
    });
    session.setData = setData;
    proxy.heal();
    expect(await recovered(() => store.replace(made, recordOf(3)))).toBeUndefined();
    expect(await recovered(() => store.read(3))).toMatchObject({ record: recordOf(2) });
  });

  it('is unreachable while the server is away, and continues when it is back', async () => {
    use(throughProxy(), { connectMs: SHORT_MS });
    const made = await create();
    proxy.refuse();
    for (const ask of [() => store.list(), () => store.replace(made, recordOf(2)), () => store.peers()]) {
      await expect(ask()).rejects.toMatchObject(UNREACHABLE);
    }
    proxy.heal();
    expect(await recovered(() => store.replace(made, recordOf(3)))).toMatchObject({ record: recordOf(3) });
  });

  it('lists the servers that are up, with their clocks, until they are gone', async () => {
    expect(await store.peers()).toStrictEqual([]);
    expect(await store.timeSources()).toStrictEqual([]);
    const other = zkStore(openSession(database), layout);
    store.announce(INSTANCE, 3);
    other.announce({ ...INSTANCE, ip: '::1' }, 4);
    await until('both nodes', async () => (await store.peers()).length === 2);
    expect(await store.peers()).toEqual([
      { instance: '10.0.0.7:8080', workerId: 3 },
      { instance: '[::1]:8080', workerId: 4 },
    ]);
    const data = JSON.parse((await direct.getData(`${UP}/10.0.0.7:8080`))!.data) as unknown;
    expect(data).toEqual({ ip: '10.0.0.7', port: '8080', url: URL_7, workerId: 3 });
    // The other one has told nobody where it can be reached.
    expect((await other.timeSources()).map(({ name }) => name)).toEqual(['10.0.0.7:8080']);
    await other.close();
    await until('end of the other', async () => (await store.peers()).length === 1);
  });

  it('lists servers with invalid data without a clock or a worker ID', async () => {
    await direct.ensurePath(UP);
    for (const [name, data] of [
      ['a:1', ''],
      ['b:2', 'null'],
      ['c:3', '{"url":"file:///etc/passwd","workerId":"1"}'],
    ] as const) {
      await direct.create(`${UP}/${name}`, data, 'persistent');
    }
    expect(await store.peers()).toEqual(['a:1', 'b:2', 'c:3'].map((instance) => ({ instance, workerId: undefined })));
    expect(await store.timeSources()).toStrictEqual([]);
  });

  it('provides at most 32 clocks: those of the next servers in order of address', async () => {
    await direct.ensurePath(UP);
    const all = Array.from({ length: 40 }, (_, n) => `10.0.0.${100 + n}:8080`);
    for (const name of all) {
      await direct.create(`${UP}/${name}`, JSON.stringify({ url: `http://${name}` }), 'persistent');
    }
    const asked = async (url: string): Promise<string[]> => {
      const other = openSession(database);
      const sources = await zkStore(other, layout, { url }).timeSources();
      await other.close();
      return sources.map(({ name }) => name);
    };
    expect(await asked('http://10.0.0.130:8080')).toEqual([...all.slice(31), ...all.slice(0, 23)]);
    expect(await asked('http://10.0.0.139:8080')).toEqual(all.slice(0, 32));
    expect(await asked('http://10.0.0.7:8080')).toEqual(all.slice(0, 32));
  });

  it('provides a clock that fails in time for an unreachable server', async () => {
    await direct.ensurePath(UP);
    const url = `http://127.0.0.1:${await freePort()}`;
    const silent = await TcpProxy.start(await freePort());
    silent.blackhole();
    await direct.create(`${UP}/a:1`, JSON.stringify({ url }), 'persistent');
    await direct.create(`${UP}/b:2`, JSON.stringify({ url: `http://127.0.0.1:${silent.port}` }), 'persistent');
    const sources = await store.timeSources();
    const answers = await within(ASK_LIMIT_MS, () => Promise.allSettled(sources.map(({ ask }) => ask())));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await silent.stop();
  });

  it('is listed again after its session expired', async () => {
    use(throughProxy(), { connectMs: SHORT_MS, callMs: SHORT_MS, sessionMs: SHORT_SESSION_MS });
    const listed = (): Promise<unknown> =>
      until('the node', () => {
        store.announce(INSTANCE, 3);
        return direct.getData(`${UP}/10.0.0.7:8080`);
      });
    await listed();
    const { generation } = session.snapshot();
    proxy.blackhole();
    await until('end of the node', async () => (await direct.getData(`${UP}/10.0.0.7:8080`)) === undefined);
    proxy.heal();
    await listed();
    expect(session.snapshot().generation).toBeGreaterThan(generation);
  });

  it('is listed once the node of its previous session is gone', async () => {
    await direct.ensurePath(UP);
    const before = openSession(database);
    await before.create(`${UP}/10.0.0.7:8080`, '{"url":"http://before:1"}', 'ephemeral');
    store.announce(INSTANCE, 3);
    await store.peers();
    expect((await direct.getData(`${UP}/10.0.0.7:8080`))!.data).toContain('before');
    await before.close();
    await until('its own node', async () => {
      store.announce(INSTANCE, 3);
      return (await direct.getData(`${UP}/10.0.0.7:8080`))?.data.includes(URL_7);
    });
  });

  it('leaves no node when it closes while the node is created', async () => {
    store.announce(INSTANCE, 3);
    await store.close();
    await expect(store.peers()).rejects.toMatchObject(UNREACHABLE);
    await until('end of the node', async () => (await direct.getData(`${UP}/10.0.0.7:8080`)) === undefined);
  });

  it('reports a wrong password at each call', async () => {
    const withPassword = (password: string): ZookeeperWorkerStore =>
      zkStore(openSession(database, { auth: parseZookeeperAuth(`digest:leaf:${password}`) }), layout);
    const [owner, stranger] = [withPassword('right'), withPassword('wrong')];
    const registry = await owner.readRegistry();
    const made = await owner.create(registry, recordOf(1), 3);
    const DENIED = {
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('the option snowflake.registry.zookeeper.auth'),
      cause: { kind: 'denied' },
    };
    await expect(stranger.create(registry, recordOf(1), 4)).rejects.toMatchObject(DENIED);
    await expect(stranger.replace(made!, recordOf(2))).rejects.toMatchObject(DENIED);
    expect(await owner.replace(made!, recordOf(2))).toMatchObject({ workerId: 3 });
    await owner.close();
    await stranger.close();
  });

  it('refuses a name that cannot be part of a path', async () => {
    await expect(zkStore(session, layout, { name: 'a//b' }).list()).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('the option snowflake.registry.name'),
    });
  });
});
