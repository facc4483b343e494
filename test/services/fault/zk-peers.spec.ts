import type { Instance } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { type LossySession, NAME, openSession, zkStore } from '../../support/contract/zk-stores';
import { PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { parseZookeeperAuth } from '../../../libs/registry/src/stores/zookeeper/zookeeper-address';
import type { ZookeeperSessionOptions } from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import type { ZookeeperWorkerStore } from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';
import { freePort } from '../../support/free-port';
import { recovered } from '../../support/recovered';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import { within } from '../../support/within';
import { WorkerProcess } from '../../support/servers/worker-processes';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';

/** To be waited for; a busy machine alone can use them up. */
const SHORT = { connectMs: 1500, callMs: 1500, sessionMs: 3000 };
/** A clock that is asked fails after 1 s. */
const ASK_LIMIT_MS = 2000;
const UP = `/snowflake/${NAME}/temporary`;
const URL = 'http://10.0.0.7:8080';
const OWN: Instance = { ip: '10.0.0.7', port: 8080 };
const OWN_NODE = `${UP}/10.0.0.7:8080`;
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

let server: ZookeeperServer;
let proxy: TcpProxy;
let database: string;
let direct: LossySession;
let opened: ZookeeperWorkerStore[];

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await TcpProxy.start(server.port);
  database = await server.createDatabase();
  direct = openSession(database);
  opened = [];
});
afterEach(async () => {
  // The end of a session holds the process up until it is answered, and the proxy with it.
  proxy.refuse();
  for (const store of opened) await store.close();
  proxy.heal();
  await direct.close();
  await proxy.stop();
});

function open(more: Partial<ZookeeperSessionOptions> = {}, url?: string, hosts = database): ZookeeperWorkerStore {
  const store = zkStore(openSession(hosts, more), SEQUENTIAL, url === undefined ? {} : { url });
  opened.push(store);
  return store;
}

function throughProxy(): string {
  return database.replace(`:${server.port}`, `:${proxy.port}`);
}

async function list(peers: Readonly<Record<string, string>>): Promise<void> {
  await direct.ensurePath(UP);
  for (const [name, data] of Object.entries(peers)) await direct.create(`${UP}/${name}`, data, 'persistent');
}

describe('the servers that are up', () => {
  it('are listed, with their clocks, until they are gone', async () => {
    const [store, other] = [open({}, URL), open()];
    store.announce(OWN, 3);
    other.announce({ ...OWN, ip: '::1' }, 4);
    await until('both nodes', async () => (await store.peers()).length === 2);
    expect(await store.peers()).toEqual([
      { instance: '10.0.0.7:8080', workerId: 3 },
      { instance: '[::1]:8080', workerId: 4 },
    ]);
    const data = JSON.parse((await direct.getData(OWN_NODE))!.data) as unknown;
    expect(data).toEqual({ ip: '10.0.0.7', port: '8080', url: URL, workerId: 3 });
    // The other one has told nobody where it can be reached.
    expect((await other.timeSources()).map(({ name }) => name)).toEqual(['10.0.0.7:8080']);
    await other.close();
    await until('end of the other', async () => (await store.peers()).length === 1);
  });

  it('provide at most 32 clocks: those of the next servers in order of address', async () => {
    const all = Array.from({ length: 40 }, (_, n) => `10.0.0.${100 + n}:8080`);
    await list(Object.fromEntries(all.map((name) => [name, JSON.stringify({ url: `http://${name}` })])));
    const asked = async (url: string): Promise<string[]> => (await open({}, url).timeSources()).map(({ name }) => name);
    expect(await asked('http://10.0.0.130:8080')).toEqual([...all.slice(31), ...all.slice(0, 23)]);
    expect(await asked('http://10.0.0.139:8080')).toEqual(all.slice(0, 32));
    expect(await asked(URL)).toEqual(all.slice(0, 32));
  });

  it('provide no clock without a valid URL, and one that fails in time if they are unreachable', async () => {
    const silent = await TcpProxy.start(await freePort());
    silent.blackhole();
    await list({
      'a:1': JSON.stringify({ url: `http://127.0.0.1:${await freePort()}` }),
      'b:2': JSON.stringify({ url: `http://127.0.0.1:${silent.port}` }),
      'c:3': '{"url":"file:///etc/passwd","workerId":"1"}',
    });
    const sources = await open().timeSources();
    const answers = await within(ASK_LIMIT_MS, () => Promise.allSettled(sources.map(({ ask }) => ask())));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await silent.stop();
  });

  it('are listed again once a session of theirs has expired', async () => {
    const store = open(SHORT, URL, throughProxy());
    const announced = (): Promise<unknown> =>
      until('the node', () => {
        store.announce(OWN, 3);
        return direct.getData(OWN_NODE);
      });
    await announced();
    proxy.blackhole();
    await until('end of the node', async () => (await direct.getData(OWN_NODE)) === undefined);
    proxy.heal();
    await announced();
  });

  it('are listed once the node of their previous session is gone', async () => {
    await direct.ensurePath(UP);
    const before = openSession(database);
    await before.create(OWN_NODE, '{"url":"http://before:1"}', 'ephemeral');
    const store = open({}, URL);
    store.announce(OWN, 3);
    await store.peers();
    expect((await direct.getData(OWN_NODE))!.data).toContain('before');
    await before.close();
    await until('its own node', async () => {
      store.announce(OWN, 3);
      return (await direct.getData(OWN_NODE))?.data.includes(URL);
    });
  });

  it('leave no node when they stop while it is created', async () => {
    const store = open({}, URL);
    store.announce(OWN, 3);
    await store.close();
    await expect(store.peers()).rejects.toMatchObject(UNREACHABLE);
    await until('end of the node', async () => (await direct.getData(OWN_NODE)) === undefined);
  });
});

describe.each([
  ['zk_normal', SEQUENTIAL],
  ['zk_recycle', PLAIN],
])('%s', (_, layout) => {
  function start(more: Partial<ZookeeperSessionOptions> = {}, hosts = database, name = NAME): WorkerProcess {
    const store = zkStore(openSession(hosts, more), layout, { name });
    opened.push(store);
    return new WorkerProcess(store, new FakeClock(), { exclusive: layout === SEQUENTIAL, port: 8080 }, {});
  }

  it('keeps its worker ID after an extension whose reply is lost, and if it cannot be listed', async () => {
    await direct.ensurePath(`/snowflake/${NAME}`);
    // An ephemeral node has no children.
    await direct.create(UP, '', 'ephemeral');
    const process = start({ callMs: SHORT.callMs }, throughProxy());
    await recovered(() => process.acquire());
    const { workerId } = process.claim;
    proxy.blackhole('answers');
    await expect(process.extend()).rejects.toMatchObject({ ...UNREACHABLE, retryable: true });
    proxy.heal();
    expect(await recovered(() => process.extend())).toBe(true);
    expect(await recovered(() => process.store.list())).toMatchObject([{ workerId }]);
    proxy.refuse();
    await expect(process.extend()).rejects.toMatchObject(UNREACHABLE);
    proxy.heal();
    await recovered(() => process.claim.release(process.clock.now()));
    expect((await recovered(() => process.store.list()))[0]?.record.free).toBe(true);
  });

  it('reports a wrong password, and does not affect the holder', async () => {
    const withPassword = (password: string): WorkerProcess =>
      start({ auth: parseZookeeperAuth(`digest:leaf:${password}`) });
    const [owner, stranger] = [withPassword('right'), withPassword('wrong')];
    await owner.acquire();
    await expect(stranger.acquire()).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('the option snowflake.registry.zookeeper.auth') as string,
    });
    expect(await owner.extend()).toBe(true);
  });

  it('refuses a name that cannot be part of a path', async () => {
    await expect(start({}, database, 'a//b').acquire()).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('the option snowflake.registry.name') as string,
    });
  });
});
