import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import {
  parseZookeeperAddress,
  parseZookeeperAuth,
} from '../../../libs/registry/src/stores/zookeeper/zookeeper-address';
import { ZookeeperConnection } from '../../../libs/registry/src/stores/zookeeper/zookeeper-connection';
import { CLOSED, NativeFailure, NO_NODE } from '../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import {
  ZookeeperSession,
  type ZookeeperSessionOptions,
} from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import { ensureBuilt, ROOT } from '../../support/build';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { freePort } from '../../support/free-port';
import { run } from '../../support/servers/services';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { ended, onlyZookeeperChild } from '../../support/servers/zookeeper-children';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';

const PASSWORD = 'hunter2';

let server: ZookeeperServer;
let database: string;
const opened: ZookeeperSession[] = [];

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());
beforeEach(async () => (database = await server.createDatabase()));
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close();
});

function open(hosts = database, more: Partial<ZookeeperSessionOptions> = {}): ZookeeperSession {
  const address = parseZookeeperAddress(hosts);
  const options = { address, connectMs: 10_000, callMs: 10_000, sessionMs: 20_000, ...more };
  const session = new ZookeeperSession(options, new SystemClock(), systemRandom);
  opened.push(session);
  return session;
}

/** A session whose root node exists. */
async function openRooted(hosts?: string, more?: Partial<ZookeeperSessionOptions>): Promise<ZookeeperSession> {
  const session = open(hosts, more);
  await session.ensurePath('/');
  return session;
}

function withPassword(password = PASSWORD): Partial<ZookeeperSessionOptions> {
  return { auth: parseZookeeperAuth(`digest:leaf:${password}`) };
}

describe('nodes', () => {
  it('are made, read, written and removed, each write with the version that it replaces', async () => {
    const session = await openRooted();
    const before = Date.now();
    expect(await session.create('/a', 'one ü', 'persistent')).toBe('/a');
    const node = await session.getData('/a');
    expect(node).toEqual({
      ...{ data: 'one ü', version: 0, mtime: expect.any(Number), ephemeral: 'no' },
      ...{ created: expect.any(Number), session: 1 },
    });
    expect(Math.abs(node!.mtime - before)).toBeLessThan(60_000);
    expect(await session.setData('/a', 'two', 0)).toMatchObject({ version: 1 });
    expect(await session.setData('/a', '', 1)).toMatchObject({ version: 2 });
    expect(await session.getData('/a')).toMatchObject({ data: '', version: 2 });
    await session.remove('/a', 2);
    expect(await session.getData('/a')).toBeUndefined();
  });

  it('are not written in another session than the one named', async () => {
    const session = await openRooted();
    await session.create('/a', 'one', 'persistent', 1);
    await expect(session.setData('/a', 'two', 0, 2)).rejects.toMatchObject({ kind: 'other-session' });
    await expect(session.create('/b', '', 'persistent', 0)).rejects.toMatchObject({ kind: 'other-session' });
    expect(await session.getData('/a')).toMatchObject({ data: 'one', version: 0 });
    expect(await session.setData('/a', 'two', 0, 1)).toMatchObject({ version: 1 });
  });

  it('refuse a write or a removal with another version', async () => {
    const [session, other] = [await openRooted(), open()];
    await session.create('/a', 'one', 'persistent');
    await other.setData('/a', 'two', 0);
    await expect(session.setData('/a', 'three', 0)).rejects.toMatchObject({ kind: 'bad-version' });
    await expect(session.setData('/a', 'three', 7)).rejects.toMatchObject({ kind: 'bad-version' });
    await expect(session.remove('/a', 0)).rejects.toMatchObject({ kind: 'bad-version' });
    expect(await session.getData('/a')).toMatchObject({ data: 'two', version: 1 });
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 31])('take no version %p, which would match any or another', async (version) => {
    const session = await openRooted();
    await session.create('/a', 'one', 'persistent');
    await expect(session.setData('/a', 'two', version)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(session.remove('/a', version)).rejects.toMatchObject({ kind: 'invalid' });
    expect(await session.getData('/a')).toMatchObject({ data: 'one', version: 0 });
  });

  it('are named in the fault about them', async () => {
    const session = await openRooted();
    await session.create('/a', '', 'persistent');
    await expect(session.create('/a', '', 'persistent')).rejects.toMatchObject({
      kind: 'node-exists',
      message: expect.stringContaining('create /a'),
    });
    await expect(session.create('/b/c', '', 'persistent')).rejects.toMatchObject({ kind: 'no-node' });
    await expect(session.setData('/b', '', 0)).rejects.toMatchObject({ kind: 'no-node' });
    await expect(session.children('/b')).rejects.toMatchObject({ kind: 'no-node' });
    await session.create('/a/b', '', 'persistent');
    await expect(session.remove('/a', 0)).rejects.toMatchObject({ kind: 'invalid' });
    expect(session.snapshot()).toEqual({ connected: true, generation: 1, lastFault: undefined });
  });

  it('take no path that means another one, and no more data than a server', async () => {
    const session = await openRooted();
    for (const path of ['a', '/a\0b', '/../a', '/a/']) {
      await expect(session.create(path, '', 'persistent')).rejects.toMatchObject({ kind: 'invalid' });
    }
    await expect(session.create('/a', 'ü'.repeat(600_000), 'persistent')).rejects.toMatchObject({ kind: 'invalid' });
    expect(await session.create('/a', 'a'.repeat(1_000_000), 'persistent')).toBe('/a');
    // Each time, it arrives in a different number of chunks.
    for (let n = 0; n < 30; n++) expect((await session.getData('/a'))!.data).toHaveLength(1_000_000);
  });

  it('get ascending numbers when sequential, whatever dashes their names have', async () => {
    const session = await openRooted();
    const made: string[] = [];
    for (let n = 0; n < 3; n++) made.push(await session.create('/10.0.0.7:80-80-', String(n), 'sequential'));
    expect(made).toEqual([0, 1, 2].map((n) => `/10.0.0.7:80-80-000000000${n}`));
    expect((await session.children('/')).sort()).toEqual(made.map((path) => path.slice(1)));
    expect(await session.getData(made[1]!)).toMatchObject({ data: '1', ephemeral: 'no' });
  });

  it('end with the session when ephemeral', async () => {
    const [session, other] = [await openRooted(), open()];
    await session.create('/up', 'me', 'ephemeral');
    expect(await session.getData('/up')).toMatchObject({ data: 'me', ephemeral: 'ours' });
    expect(await other.getData('/up')).toMatchObject({ ephemeral: 'of another session' });
    await expect(session.create('/up/a', '', 'persistent')).rejects.toMatchObject({ kind: 'invalid' });
    await session.close();
    await until('end of the node', async () => (await other.getData('/up')) === undefined);
  });
});

describe('a chroot', () => {
  it('is missing like any node, until it is made', async () => {
    const session = open(`${database}/deep/er`);
    expect(await session.getData('/')).toBeUndefined();
    expect(await session.getData('/a')).toBeUndefined();
    await expect(session.create('/a', '', 'persistent')).rejects.toMatchObject({ kind: 'no-node' });
    await session.ensurePath('/x/y');
    await session.ensurePath('/x/y');
    expect(await session.children('/')).toEqual(['x']);
    expect(await open(database).children('/deep/er/x')).toEqual(['y']);
  });

  it('is made once by many at once', async () => {
    const sessions = Array.from({ length: 8 }, () => open(`${database}/deep`));
    await Promise.all(sessions.map((session) => session.ensurePath('/a/b/c')));
    expect(await sessions[0]!.children('/a/b')).toEqual(['c']);
  });
});

describe('with credentials', () => {
  it('nodes are closed to everybody else', async () => {
    const session = await openRooted(database, withPassword());
    await session.create('/a', 'mine', 'persistent');
    await session.ensurePath('/b/c');
    const sequential = await session.create('/s-', 'mine', 'sequential');
    for (const stranger of [open(), open(database, withPassword('guess'))]) {
      for (const path of ['/', '/a', '/b', '/b/c', sequential]) {
        await expect(stranger.getData(path)).rejects.toMatchObject({ kind: 'denied' });
        await expect(stranger.setData(path, 'theirs', 0)).rejects.toMatchObject({ kind: 'denied' });
        await expect(stranger.create(`${path === '/' ? '' : path}/x`, '', 'persistent')).rejects.toMatchObject({
          kind: 'denied',
        });
      }
    }
    expect(await open(database, withPassword()).setData('/a', 'still mine', 0)).toMatchObject({ version: 1 });
  });

  it('they hold after the connection was made anew', async () => {
    const proxy = await TcpProxy.start(server.port);
    const session = await openRooted(database.replace(`:${server.port}`, `:${proxy.port}`), withPassword());
    await session.create('/a', 'mine', 'persistent');
    proxy.cut();
    await until('end of the connection', () => !session.snapshot().connected);
    expect(await session.setData('/a', 'still mine', 0)).toMatchObject({ version: 1 });
    await session.close();
    await proxy.stop();
  });

  it.each([
    ['that was not answered', new NativeFailure(CLOSED, true), 'unknown-outcome'],
    ['that was not sent', new NativeFailure(CLOSED, false), 'unknown-outcome'],
    ['that was refused', new NativeFailure(NO_NODE, true), 'denied'],
  ])('a second step %s leaves a node that is named, for it may be open', async (_, failure, kind) => {
    const session = await openRooted(database, withPassword());
    const protect = jest.spyOn(ZookeeperConnection.prototype, 'protect').mockRejectedValue(failure);
    try {
      await expect(session.create('/a', 'mine', 'persistent')).rejects.toMatchObject({
        kind,
        message: expect.stringContaining('/a, but its access list could not be set'),
      });
    } finally {
      protect.mockRestore();
    }
    expect(await open().getData('/a')).toMatchObject({ data: 'mine' });
  });

  it('a fault or a snapshot shows no secret', async () => {
    const owner = await openRooted(database, withPassword());
    const session = open(database, withPassword('correct horse'));
    const fault = await session.getData('/').catch((error: unknown) => error);
    const dead = open(`127.0.0.1:${await freePort()}`, { ...withPassword('correct horse'), connectMs: 300 });
    const other = await dead.getData('/').catch((error: unknown) => error);
    const shown = [fault, other, session.snapshot(), dead.snapshot(), owner.snapshot()].map(
      (thing) => String(thing) + JSON.stringify(thing),
    );
    expect(shown.join()).toContain('denied');
    expect(shown.join()).not.toMatch(/correct|horse|hunter2/);
  });
});

it('a server that takes connections and is silent is one that cannot be reached, until it answers', async () => {
  const proxy = await TcpProxy.start(server.port);
  proxy.blackhole();
  const session = open(database.replace(`:${server.port}`, `:${proxy.port}`), { connectMs: 1000 });
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(session.getData('/a')).rejects.toMatchObject({ kind: 'unreachable' });
  }
  proxy.heal();
  await until('an answer', () =>
    session
      .ensurePath('/')
      .then(() => true)
      .catch(() => false),
  );
  await session.close();
  await proxy.stop();
});

it('two sessions of one process do not know each other', async () => {
  const proxy = await TcpProxy.start(server.port);
  const near = await openRooted();
  await near.create('/a', '', 'persistent');
  const far = open(database.replace(`:${server.port}`, `:${proxy.port}`), { callMs: 300 });
  // A busy machine can exceed the short limit.
  await until('the connection', () => far.getData('/a').catch(() => undefined));
  proxy.blackhole();
  await expect(far.getData('/a')).rejects.toMatchObject({ kind: 'unknown-outcome' });
  expect(await near.setData('/a', 'x', 0)).toMatchObject({ version: 1 });
  expect(near.snapshot().lastFault).toBeUndefined();
  proxy.heal();
  await far.close();
  expect(await near.setData('/a', 'y', 1)).toMatchObject({ version: 2 });
  await proxy.stop();
});

describe('a process', () => {
  /** The code that follows it decides how the process ends. */
  const PROGRAM = `
    const { SystemClock } = require('./libs/core/src');
    const { systemRandom } = require('./libs/core/src/internal');
    const { parseZookeeperAddress } = require('./libs/registry/src/stores/zookeeper/zookeeper-address');
    const { ZookeeperSession } = require('./libs/registry/src/stores/zookeeper/zookeeper-session');
    const connectMs = Number(process.argv[2]);
    const options = { address: parseZookeeperAddress(process.argv[1]), connectMs, callMs: 30000, sessionMs: 60000 };
    const session = new ZookeeperSession(options, new SystemClock(), systemRandom);
    const up = session
      .ensurePath('/')
      .then(() => session.create('/up', 'me', 'ephemeral'))
      .catch((error) => error.kind);
  `;
  const CLOSE = 'up.then((outcome) => session.close().then(() => console.log(outcome)));';
  const FORGET = 'up.then((outcome) => console.log(outcome));';
  const UNTIL_CONNECTED = `
    const look = (outcome) => {
      if (outcome !== 'unreachable') return session.close().then(() => console.log('connected'));
      return session.children('/').catch((error) => error.kind).then(look);
    };
    up.then(look);
  `;
  const STAY = `${FORGET} setInterval(() => undefined, 1000);`;

  beforeAll(ensureBuilt);

  /** Fails unless the process exits with 0 by itself and its child ends as well. */
  async function runProgram(
    hosts: string,
    ending: string,
    { connectMs = 30_000, options = [] }: { readonly connectMs?: number; readonly options?: readonly string[] } = {},
  ): Promise<string> {
    const limits = { timeout: 120_000, killSignal: 'SIGKILL' } as const;
    const env = { ...process.env, NODE_OPTIONS: options.join(' ') };
    const words = ['-e', PROGRAM + ending, hosts, String(connectMs)];
    const { stdout } = await run(process.execPath, words, { cwd: join(ROOT, 'dist'), env, ...limits });
    return stdout.trim();
  }

  /** A client waits only a moment for its server to end the session; without that, it would last for long. */
  async function noNodes(session: ZookeeperSession): Promise<void> {
    await until('the end of the nodes', async () => (await session.children('/')).length === 0, 10_000);
  }

  it('ends by itself once its session is closed', async () => {
    expect(await runProgram(database, CLOSE)).toBe('/up');
    await noNodes(open());
  });

  it('ends by itself once its session is closed that has never reached a server', async () => {
    expect(await runProgram(`127.0.0.1:${await freePort()}`, CLOSE, { connectMs: 1000 })).toBe('unreachable');
  });

  it('ends by itself with a session that nobody closes, which ends at the server too', async () => {
    expect(await runProgram(database, FORGET)).toBe('/up');
    await noNodes(open());
  });

  it('connects where a process takes longer to start than a server may take to answer', async () => {
    const directory = await makeDataDirectory();
    const slow = join(directory, 'slow.cjs');
    await writeFile(slow, 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);');
    expect(await runProgram(database, UNTIL_CONNECTED, { options: ['--require', slow] })).toBe('connected');
    await removeDataDirectory(directory);
  });

  it('takes its child along when it is killed, and its session ends at the server', async () => {
    const words = ['-e', PROGRAM + STAY, database, '30000'];
    const program = spawn(process.execPath, words, { cwd: join(ROOT, 'dist'), stdio: ['ignore', 'pipe', 'inherit'] });
    await once(program.stdout, 'data');
    const pid = await onlyZookeeperChild(program.pid);
    const session = open();
    expect(await session.children('/')).toEqual(['up']);
    program.kill('SIGKILL');
    await ended(pid);
    await noNodes(session);
  });
});
