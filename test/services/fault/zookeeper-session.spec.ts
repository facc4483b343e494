import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { parseZookeeperAddress } from '../../../libs/registry/src/stores/zookeeper/zookeeper-address';
import {
  ZookeeperSession,
  type ZookeeperSessionOptions,
} from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import { freePort } from '../../support/free-port';
import { recovered } from '../../support/recovered';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import { within } from '../../support/within';
import { watch } from '../../support/watch';
import { startEnsemble, startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { ended, onlyZookeeperChild, zookeeperChildren } from '../../support/servers/zookeeper-children';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';

/** For tests that check no limit: a pause of the machine must not fail them. */
const PATIENT = { connectMs: 20_000, callMs: 20_000, sessionMs: 60_000 };
/** For tests that wait for a limit; a busy machine can exceed it. */
const SHORT = { connectMs: 2000, callMs: 500, sessionMs: 2000 };
/** A session is given 2 s to end, and as long again after each signal to its process. */
const END_LIMIT_MS = 8000;

function make(hosts: string, more: Partial<ZookeeperSessionOptions> = {}): ZookeeperSession {
  const address = parseZookeeperAddress(hosts);
  return new ZookeeperSession({ address, ...PATIENT, ...more }, new SystemClock(), systemRandom);
}

/** The first reply on a connection that may break. */
function connected<T>(act: () => Promise<T>): Promise<T> {
  return recovered(act, (error) => /unreachable|unknown-outcome/.test((error as { kind?: string }).kind ?? ''));
}

/** Creates an ephemeral node of the session, with retries. */
async function announce(session: ZookeeperSession, path: string, data = 'me'): Promise<void> {
  await until(`the node ${path}`, async () => {
    await session.create(path, data, 'ephemeral').catch((error: unknown) => {
      expect(error).toMatchObject({ kind: expect.stringMatching(/unreachable|unknown-outcome|node-exists/) });
    });
    return (await connected(() => session.getData(path)))?.ephemeral === 'ours';
  });
}

const FAILED = { kind: expect.stringMatching(/unknown|unreachable/) as string };

beforeAll(requireZookeeperClient);

describe('a session', () => {
  let server: ZookeeperServer;
  let proxy: TcpProxy;
  let direct: ZookeeperSession;
  let session: ZookeeperSession;
  let hosts: string;

  beforeAll(async () => (server = await startZookeeper()));
  afterAll(() => server.stop());

  beforeEach(async () => {
    proxy = await TcpProxy.start(server.port);
    const database = await server.createDatabase();
    direct = make(database);
    hosts = database.replace(`:${server.port}`, `:${proxy.port}`);
    await direct.ensurePath('/a');
    session = make(hosts);
    await session.create('/up', 'me', 'ephemeral');
  });

  afterEach(async () => {
    await proxy.stop();
    await Promise.all([session.close(), direct.close()]);
  });

  /** In place of the patient one. */
  async function use(limits: Partial<ZookeeperSessionOptions>): Promise<void> {
    await session.close();
    session = make(hosts, limits);
    await announce(session, '/up');
  }

  it('does not know whether a write without an answer was carried out', async () => {
    await use({ callMs: SHORT.callMs });
    proxy.blackhole('answers');
    await expect(session.setData('/a', 'x', 0)).rejects.toMatchObject({ kind: 'unknown-outcome' });
    await until('the write', async () => (await direct.getData('/a'))?.version === 1);
    expect(await direct.getData('/a')).toMatchObject({ data: 'x', version: 1 });
    expect(session.snapshot().lastFault).toMatchObject({ kind: 'unknown-outcome' });
  });

  it('goes on after a cut, as the same session', async () => {
    const cut = watch(session.setData('/a', 'x', 0));
    proxy.cut();
    await until('end of the connection', () => !session.snapshot().connected);
    await until('end of the call', () => cut.settled);
    expect(cut.error).toMatchObject({ kind: 'unknown-outcome' });
    expect(await session.getData('/up')).toMatchObject({ ephemeral: 'ours' });
    expect(session.snapshot()).toEqual({ connected: true, generation: 1, lastFault: undefined });
  });

  it('asks nothing of a socket that was reset without anybody noticing yet', async () => {
    for (let n = 0; n < 20; n++) {
      proxy.cut();
      // In the next turn, the event loop may not have read the socket yet.
      const calls = Array.from({ length: 5 }, () => watch(session.getData('/a')));
      await until('end of the calls', () => calls.every(({ settled }) => settled));
      for (const { error } of calls) {
        if (error !== undefined) expect(error).toMatchObject(FAILED);
      }
      expect(await connected(() => session.getData('/a'))).toMatchObject({ version: 0 });
    }
  });

  it('goes on after the end and the return of the server, as the same session', async () => {
    const lasting = make(hosts, { connectMs: SHORT.connectMs });
    await announce(lasting, '/lasting');
    await server.kill();
    await expect(lasting.setData('/a', 'x', 0)).rejects.toMatchObject(FAILED);
    await expect(lasting.setData('/a', 'x', 0)).rejects.toMatchObject({ kind: 'unreachable' });
    await server.restart();
    expect(await connected(() => lasting.getData('/lasting'))).toMatchObject({ ephemeral: 'ours' });
    expect(await lasting.setData('/a', 'y', 0)).toMatchObject({ version: 1 });
    expect(lasting.snapshot().generation).toBe(1);
    await lasting.close();
  });

  it('begins anew after a silence longer than the session lives, and its ephemeral nodes are gone', async () => {
    await use({ sessionMs: SHORT.sessionMs });
    const { generation } = session.snapshot();
    proxy.blackhole();
    await until('end of the node', async () => (await direct.getData('/up')) === undefined);
    proxy.heal();
    expect(await connected(() => session.getData('/a'))).toMatchObject({ version: 0 });
    expect(session.snapshot().generation).toBeGreaterThan(generation);
    await announce(session, '/up', 'again');
    expect(await direct.getData('/up')).toMatchObject({ data: 'again' });
  });

  it('notices a silence without being asked', async () => {
    await use({ sessionMs: SHORT.sessionMs });
    proxy.blackhole();
    await until('end of the connection', () => !session.snapshot().connected);
  });

  it('works again after the server was suspended for longer than the session lives', async () => {
    await use(SHORT);
    await server.suspend();
    await expect(session.getData('/a')).rejects.toMatchObject(FAILED);
    await until('end of the connection', () => !session.snapshot().connected);
    await expect(session.getData('/a')).rejects.toMatchObject({ kind: 'unreachable' });
    await server.resume();
    expect(await connected(() => session.getData('/a'))).toMatchObject({ data: '' });
    await announce(session, '/again');
  });

  it('lets calls that come together wait for one connection', async () => {
    proxy.refuse();
    await until('end of the connection', () => !session.snapshot().connected);
    const calls = Array.from({ length: 10 }, () => session.getData('/a'));
    proxy.heal();
    expect(await Promise.all(calls)).toHaveLength(10);
    expect(proxy.cut()).toBe(1);
  });

  it('is closed in bounded time while nothing passes, and stays closed', async () => {
    proxy.blackhole();
    const pending = watch(session.getData('/a'));
    await new Promise(setImmediate);
    await within(END_LIMIT_MS, () => session.close());
    await until('end of the call', () => pending.settled);
    expect(pending.error).toMatchObject({ kind: 'unknown-outcome' });
    proxy.heal();
    await expect(session.getData('/a')).rejects.toMatchObject({ kind: 'unreachable' });
    await session.close();
  });

  it('is closed at once while it connects', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const other = make(`127.0.0.1:${port}`, { connectMs: 600_000, sessionMs: 1_200_000 });
    const pending = watch(other.getData('/a'));
    const [socket] = (await once(silent, 'connection')) as [Socket];
    const ended = once(socket.resume(), 'close');
    await other.close();
    await until('end of the call', () => pending.settled);
    expect(pending.error).toMatchObject({ kind: 'unreachable' });
    await ended;
    await new Promise((resolve) => silent.close(resolve));
  });
});

describe('the process of the client', () => {
  let server: ZookeeperServer;
  let proxy: TcpProxy;
  let session: ZookeeperSession;
  let hosts: string;
  let pid: number;

  beforeAll(async () => (server = await startZookeeper()));
  afterAll(() => server.stop());

  beforeEach(async () => {
    proxy = await TcpProxy.start(server.port);
    hosts = (await server.createDatabase()).replace(`:${server.port}`, `:${proxy.port}`);
    session = make(hosts);
    await session.ensurePath('/a');
    await session.create('/up', 'me', 'ephemeral');
    pid = await onlyZookeeperChild();
  });

  /** In place of the patient one. */
  async function useImpatient(): Promise<void> {
    await session.close();
    session = make(hosts, { callMs: SHORT.callMs });
    await announce(session, '/up');
    pid = await onlyZookeeperChild();
  }

  afterEach(async () => {
    await session.close();
    await until('end of the children', async () => (await zookeeperChildren()).length === 0);
    await proxy.stop();
  });

  it('is killed: what is pending has an unknown outcome, the next call goes on as the same session', async () => {
    proxy.blackhole('answers');
    const pending = [watch<unknown>(session.setData('/a', 'x', 0)), watch<unknown>(session.getData('/a'))];
    await new Promise(setImmediate);
    process.kill(pid, 'SIGKILL');
    await until('end of the calls', () => pending.every(({ settled }) => settled));
    for (const { error } of pending) {
      expect(error).toMatchObject({ kind: 'unknown-outcome', message: expect.stringContaining('connection was lost') });
    }
    expect(session.snapshot().connected).toBe(false);
    proxy.heal();
    expect(await session.getData('/up')).toMatchObject({ ephemeral: 'ours' });
    expect(session.snapshot().generation).toBe(1);
    expect(await onlyZookeeperChild()).not.toBe(pid);
  });

  it('is killed by us when it is stuck, and the next call goes on as the same session', async () => {
    await useImpatient();
    process.kill(pid, 'SIGSTOP');
    await expect(session.getData('/a')).rejects.toMatchObject({ kind: 'unknown-outcome' });
    await ended(pid);
    expect(await connected(() => session.getData('/up'))).toMatchObject({ ephemeral: 'ours' });
    expect(session.snapshot().generation).toBe(1);
  });

  it('is left alone when only the server is silent', async () => {
    await useImpatient();
    // A pause of the machine can also make the child look stuck, but not every time.
    await until('a silence that it outlives', async () => {
      pid = await onlyZookeeperChild();
      proxy.blackhole();
      for (let n = 0; n < 4; n++) {
        await expect(session.getData('/a')).rejects.toMatchObject(FAILED);
      }
      proxy.heal();
      expect(await connected(() => session.getData('/a'))).toMatchObject({ data: '' });
      return (await onlyZookeeperChild()) === pid;
    });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('does not obey %s, which is for us', async (signal) => {
    process.kill(pid, signal);
    await session.setData('/a', 'x', 0);
    expect(await onlyZookeeperChild()).toBe(pid);
  });

  it('ends in bounded time when it is stuck while the session is closed', async () => {
    process.kill(pid, 'SIGSTOP');
    await within(END_LIMIT_MS, () => session.close());
  });
});

describe('connecting fails in time', () => {
  async function expectUnreachable(hosts: string, text: RegExp): Promise<void> {
    const session = make(hosts, { connectMs: SHORT.connectMs });
    await expect(within(2 * SHORT.connectMs, () => session.getData('/a'))).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(text),
    });
    expect(session.snapshot()).toMatchObject({ connected: false, generation: 0, lastFault: { kind: 'unreachable' } });
    await session.close();
  }

  it('when no server listens', async () => {
    const port = await freePort();
    await expectUnreachable(`127.0.0.1:${port}`, new RegExp(`127.0.0.1:${port}`));
  });

  it('when the name does not exist', () => expectUnreachable('nowhere.invalid:2181', /nowhere\.invalid/));

  it('when something listens and says nothing', async () => {
    const proxy = await TcpProxy.start(await freePort());
    proxy.blackhole();
    await expectUnreachable(`127.0.0.1:${proxy.port}`, /no response/);
    await proxy.stop();
  });
});

it('a session of an ensemble finds another server, and goes on as the same one', async () => {
  const ensemble = await startEnsemble(3);
  const session = make(await ensemble.createDatabase());
  await session.ensurePath('/a');
  await session.create('/up', 'me', 'ephemeral');
  for (let version = 0; version < 2; version++) {
    const leader = await ensemble.leader();
    await leader.kill();
    expect(await connected(() => session.getData('/a'))).toMatchObject({ version });
    await connected(async () => {
      // A call of unknown outcome is repeated only if it was not carried out.
      if ((await session.getData('/a'))?.version === version) await session.setData('/a', 'x', version);
    });
    expect(await connected(() => session.getData('/a'))).toMatchObject({ version: version + 1 });
    await leader.restart();
  }
  expect(await session.getData('/up')).toMatchObject({ ephemeral: 'ours' });
  expect(session.snapshot().generation).toBe(1);
  await session.close();
  await ensemble.stop();
});
