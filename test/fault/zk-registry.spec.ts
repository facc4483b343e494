import type { WorkerClaim, WorkerRegistry } from '@leaf/core';
import { parseZookeeperAuth } from '../../libs/registry/src/zookeeper/zookeeper-address';
import type { ZookeeperRegistryOptions } from '../../libs/registry/src/zookeeper/zookeeper-registry';
import type { ZookeeperSession, ZookeeperSessionOptions } from '../../libs/registry/src/zookeeper/zookeeper-session';
import { holderAt, LOST, NAME, openSession, UNREACHABLE, zkNormal, zkRecycle } from '../contract/zk-registries';
import { freePort } from '../support/free-port';
import { TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';
import { startZookeeper, type ZookeeperServer } from '../support/zookeeper';
import { requireZookeeperClient } from '../support/zookeeper-client';

const TTL = 3_600_000;
/** To be waited for; a busy machine alone can use them up. */
const SHORT_MS = 1500;
const SHORT_SESSION_MS = 3000;
/** What ends is done long before. */
const BOUND_MS = 30_000;
const UP = `/snowflake/${NAME}/temporary`;
const URL_7 = 'http://10.0.0.7:8080';

const KINDS: [string, (session: ZookeeperSession, more?: Partial<ZookeeperRegistryOptions>) => WorkerRegistry][] = [
  ['zk_normal', zkNormal],
  ['zk_recycle', zkRecycle],
];

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

/** As long as that takes with a connection that breaks. */
function recovered<T>(act: () => Promise<T>): Promise<T> {
  return until('an answer', async () => {
    try {
      return { answer: await act() };
    } catch (error) {
      if ((error as { code?: unknown }).code !== UNREACHABLE.code) throw error;
      return undefined;
    }
  }).then(({ answer }) => answer);
}

describe.each(KINDS)('%s', (_name, open) => {
  let session: ZookeeperSession;
  let registry: WorkerRegistry;

  beforeEach(() => use(database));
  afterEach(async () => {
    // The end of a session holds the process up until it is answered, and the proxy with it.
    proxy.refuse();
    await registry.close();
  });

  function use(hosts: string, limits: Partial<ZookeeperSessionOptions> = {}): void {
    session = openSession(hosts, limits);
    registry = open(session, { url: URL_7 });
  }

  function acquire(): Promise<WorkerClaim> {
    return recovered(() => registry.acquire(holderAt(0), soon));
  }

  function soon(): number {
    return Date.now() + TTL;
  }

  it('goes on after an extension whose answer the network swallowed', async () => {
    use(throughProxy(), { callMs: SHORT_MS });
    const claim = await acquire();
    const wanted = soon();
    proxy.blackhole('answers');
    await expect(registry.extend(claim, wanted)).rejects.toMatchObject({
      ...UNREACHABLE,
      retryable: true,
      cause: { kind: 'unknown-outcome' },
    });
    proxy.heal();
    const extended = await recovered(() => registry.extend(claim, wanted + 10_000));
    expect(extended.ceiling - wanted).toBeGreaterThanOrEqual(10_000);
    expect(extended).toMatchObject({ workerId: claim.workerId, previousCeiling: claim.previousCeiling });
    await recovered(() => registry.release(extended, wanted));
    await expect(registry.extend(extended, wanted + 10_000)).rejects.toMatchObject(LOST);
  });

  it('cannot be reached while no server is there, and goes on when it is back', async () => {
    use(throughProxy(), { connectMs: SHORT_MS });
    const claim = await acquire();
    proxy.refuse();
    await expect(registry.acquire(holderAt(1), soon)).rejects.toMatchObject(UNREACHABLE);
    await expect(registry.extend(claim, soon())).rejects.toMatchObject(UNREACHABLE);
    await expect(registry.peers()).rejects.toMatchObject(UNREACHABLE);
    await expect(registry.release(claim, 1)).rejects.toMatchObject({ ...UNREACHABLE, cause: { kind: 'unreachable' } });
    proxy.heal();
    await recovered(() => registry.release(claim, 1));
  });

  it('lists the servers that are up, with their clocks, until they are gone', async () => {
    expect(await registry.peers()).toEqual([]);
    expect(await registry.timeSources()).toEqual([]);
    const otherSession = openSession(database);
    const other = open(otherSession);
    const claims = [
      await registry.acquire(holderAt(0), soon),
      await other.acquire({ ...holderAt(0), ip: '::1' }, soon),
    ];
    await until('both nodes', async () => (await registry.peers()).length === 2);
    expect(await registry.peers()).toEqual([
      { instance: '10.0.0.7:8080', workerId: claims[0]!.workerId },
      { instance: '[::1]:8080', workerId: claims[1]!.workerId },
    ]);
    const data = JSON.parse((await direct.getData(`${UP}/10.0.0.7:8080`))!.data) as unknown;
    expect(data).toEqual({ ip: '10.0.0.7', port: '8080', url: URL_7, workerId: claims[0]!.workerId });
    // The other one has told nobody where it can be reached.
    expect((await other.timeSources()).map(({ name }) => name)).toEqual(['10.0.0.7:8080']);
    await other.close();
    await until('end of the other', async () => (await registry.peers()).length === 1);
  });

  it('lists nonsense without a clock or a worker ID', async () => {
    await direct.ensurePath(UP);
    for (const [name, data] of [
      ['a:1', ''],
      ['b:2', 'null'],
      ['c:3', '{"url":"file:///etc/passwd","workerId":"1"}'],
    ] as const) {
      await direct.create(`${UP}/${name}`, data, 'persistent');
    }
    expect(await registry.peers()).toEqual(
      ['a:1', 'b:2', 'c:3'].map((instance) => ({ instance, workerId: undefined })),
    );
    expect(await registry.timeSources()).toEqual([]);
  });

  it('has the clocks of the next 32 servers when there are many', async () => {
    await direct.ensurePath(UP);
    const all = Array.from({ length: 40 }, (_, n) => `10.0.0.${100 + n}:8080`);
    for (const name of all) {
      await direct.create(`${UP}/${name}`, JSON.stringify({ url: `http://${name}` }), 'persistent');
    }
    const asked = async (url: string): Promise<string[]> => {
      const other = openSession(database);
      const sources = await open(other, { url }).timeSources();
      await other.close();
      return sources.map(({ name }) => name);
    };
    expect(await asked('http://10.0.0.130:8080')).toEqual([...all.slice(31), ...all.slice(0, 23)]);
    expect(await asked('http://10.0.0.139:8080')).toEqual(all.slice(0, 32));
    expect(await asked('http://10.0.0.7:8080')).toEqual(all.slice(0, 32));
  });

  it('has a clock of a dead server that fails', async () => {
    await direct.ensurePath(UP);
    const url = `http://127.0.0.1:${await freePort()}`;
    const silent = await TcpProxy.start(await freePort());
    silent.blackhole();
    await direct.create(`${UP}/a:1`, JSON.stringify({ url }), 'persistent');
    await direct.create(`${UP}/b:2`, JSON.stringify({ url: `http://127.0.0.1:${silent.port}` }), 'persistent');
    const sources = await registry.timeSources();
    const begun = performance.now();
    expect((await Promise.allSettled(sources.map(({ ask }) => ask()))).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    expect(performance.now() - begun).toBeLessThan(BOUND_MS);
    await silent.stop();
  });

  it('is listed again after its session expired, by an extension', async () => {
    use(throughProxy(), { connectMs: SHORT_MS, callMs: SHORT_MS, sessionMs: SHORT_SESSION_MS });
    const claim = await acquire();
    await until('the node', () => direct.getData(`${UP}/10.0.0.7:8080`));
    const { generation } = session.snapshot();
    proxy.blackhole();
    await until('end of the node', async () => (await direct.getData(`${UP}/10.0.0.7:8080`)) === undefined);
    proxy.heal();
    const extended = await recovered(() => registry.extend(claim, soon()));
    await until('the node again', () => direct.getData(`${UP}/10.0.0.7:8080`));
    expect(session.snapshot().generation).toBeGreaterThan(generation);
    expect(await recovered(() => registry.extend(extended, soon()))).toMatchObject({ workerId: claim.workerId });
  });

  it('is listed once the node of a session before is gone', async () => {
    await direct.ensurePath(UP);
    const before = openSession(database);
    await before.create(`${UP}/10.0.0.7:8080`, '{"url":"http://before:1"}', 'ephemeral');
    const claim = await registry.acquire(holderAt(0), soon);
    const extended = await registry.extend(claim, soon());
    expect((await direct.getData(`${UP}/10.0.0.7:8080`))!.data).toContain('before');
    await before.close();
    await until('its own node', async () => {
      await registry.extend(extended, soon());
      return (await direct.getData(`${UP}/10.0.0.7:8080`))?.data.includes(URL_7);
    });
  });

  it('extends all the same when it cannot be listed', async () => {
    await direct.ensurePath(`/snowflake/${NAME}`);
    // An ephemeral node has no children.
    await direct.create(UP, '', 'ephemeral');
    const claim = await registry.acquire(holderAt(0), soon);
    for (let n = 0; n < 3; n++) await registry.extend(claim, soon());
    expect(await registry.peers()).toEqual([]);
  });

  it('extends without waiting until it is listed', async () => {
    const claim = await registry.acquire(holderAt(0), soon);
    const getData = session.getData.bind(session);
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    session.getData = async (path) => {
      if (path.startsWith(UP)) await held;
      return getData(path);
    };
    const extended = await registry.extend(claim, soon());
    expect(await registry.extend(extended, soon())).toMatchObject({ workerId: claim.workerId });
    goOn();
  });

  it('waits for nothing when it is closed while it is about to be listed', async () => {
    await registry.acquire(holderAt(0), soon);
    await registry.close();
    await expect(registry.peers()).rejects.toMatchObject(UNREACHABLE);
    await until('end of the node', async () => (await direct.getData(`${UP}/10.0.0.7:8080`)) === undefined);
  });

  it('with the wrong password, does not start, and says so; while running, it counts as not reached', async () => {
    const withPassword = (password: string): WorkerRegistry => {
      const auth = parseZookeeperAuth(`digest:leaf:${password}`);
      return open(openSession(database, { auth }));
    };
    const [owner, stranger] = [withPassword('right'), withPassword('wrong')];
    const claim = await owner.acquire(holderAt(0), soon);
    await expect(stranger.acquire(holderAt(0), soon)).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('LEAF_ZOOKEEPER_AUTH'),
      cause: { kind: 'denied' },
    });
    await expect(stranger.extend(claim, soon())).rejects.toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining('LEAF_ZOOKEEPER_AUTH'),
    });
    expect(await owner.extend(claim, soon())).toMatchObject({ workerId: claim.workerId });
    await owner.close();
    await stranger.close();
  });

  it('does not start with a name that is no part of a path', async () => {
    await expect(open(session, { name: 'a//b' }).acquire(holderAt(0), soon)).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('LEAF_NAME'),
    });
  });
});

it('zk_recycle: a holder that was cut off until another one took its worker has lost it', async () => {
  const cutOff = openSession(throughProxy(), { connectMs: SHORT_MS, callMs: SHORT_MS });
  const [first, second] = [zkRecycle(cutOff, { maxWorkerId: 0 }), zkRecycle(direct, { maxWorkerId: 0 })];
  const ceiling = Date.now() - 120_000;
  const claim = await recovered(() => first.acquire(holderAt(0), () => ceiling));
  proxy.blackhole();
  const taken = await second.acquire(holderAt(1), () => Date.now() + TTL);
  expect(taken).toMatchObject({ workerId: 0, previousCeiling: ceiling });
  await expect(first.extend(claim, Date.now() + TTL)).rejects.toMatchObject(UNREACHABLE);
  proxy.heal();
  await expect(recovered(() => first.extend(claim, Date.now() + TTL))).rejects.toMatchObject(LOST);
  expect(await second.extend(taken, Date.now() + 2 * TTL)).toMatchObject({ workerId: 0 });
  await first.close();
});
