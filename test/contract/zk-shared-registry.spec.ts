import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { FakeClock, type WorkerRegistry } from '@leaf/core';
import { ZookeeperFault, type ZookeeperFaultKind } from '../../libs/registry/src/zookeeper/zookeeper-fault';
import { startZookeeper, type ZookeeperServer } from '../support/zookeeper';
import { requireZookeeperClient } from '../support/zookeeper-client';
import { holderAt, type LossySession, NAME, openSession, UNREACHABLE, zkNormal, zkRecycle } from './zk-registries';

const NOW = 1_700_000_000_000;
const PEERS = `/snowflake/${NAME}/temporary`;

let server: ZookeeperServer;
let session: LossySession;

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());
beforeEach(async () => {
  session = openSession(await server.createDatabase());
  await session.ensurePath('/');
});
afterEach(() => session.close());

const fails = (kind: ZookeeperFaultKind) => () => Promise.reject(new ZookeeperFault(kind, 'Not now.'));

describe.each([
  ['zk_normal', (): WorkerRegistry => zkNormal(session, { url: 'http://10.0.0.7:8080' }, new FakeClock(NOW))],
  ['zk_recycle', (): WorkerRegistry => zkRecycle(session, { url: 'http://10.0.0.7:8080' }, new FakeClock(NOW))],
] as const)('%s', (_, open) => {
  it('lists the servers, and asks those for the time that say where', async () => {
    const registry = open();
    await expect(registry.peers()).resolves.toEqual([]);
    await session.ensurePath(PEERS);
    const whole = { ip: '10.0.0.8', port: '8080', url: 'http://10.0.0.8:8080', workerId: 8 };
    await session.create(`${PEERS}/10.0.0.8:8080`, JSON.stringify(whole), 'persistent');
    await session.create(`${PEERS}/10.0.0.9:8080`, 'torn {', 'persistent');
    await expect(registry.peers()).resolves.toEqual([
      { instance: '10.0.0.8:8080', workerId: 8 },
      { instance: '10.0.0.9:8080', workerId: undefined },
    ]);
    await expect(registry.timeSources()).resolves.toMatchObject([{ name: '10.0.0.8:8080' }]);
  });

  it('takes being kept out at a start for a mistake of the configuration, and while running for an outage', async () => {
    const registry = open();
    const claim = await registry.acquire(holderAt(0), () => NOW);
    session.setData = fails('denied');
    await expect(registry.extend(claim, NOW + 1000)).rejects.toMatchObject(UNREACHABLE);
    session.ensurePath = fails('denied');
    await expect(registry.acquire(holderAt(1), () => NOW)).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    session.ensurePath = fails('invalid');
    await expect(registry.acquire(holderAt(1), () => NOW)).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    session.ensurePath = fails('unreachable');
    await expect(registry.acquire(holderAt(1), () => NOW)).rejects.toMatchObject(UNREACHABLE);
  });

  it('says that it cannot be reached whatever is asked', async () => {
    const registry = open();
    session.children = fails('unreachable');
    for (const ask of [() => registry.peers(), () => registry.timeSources(), () => registry.usage()]) {
      await expect(ask()).rejects.toMatchObject(UNREACHABLE);
    }
  });
});

it('a server that listens and says nothing cannot be reached in time', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const waiting = openSession(`127.0.0.1:${(silent.address() as AddressInfo).port}`, { connectMs: 500 });
  await expect(zkNormal(waiting).peers()).rejects.toMatchObject(UNREACHABLE);
  await waiting.close();
  silent.close();
});
