import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { FakeClock } from '@leaf-ids/core';
import { AdminTokenFile } from './admin-token-file';
import { AdminTokens } from './admin-tokens';

const OLD = 'old-token-0123456789';
const NEW = 'new-token-0123456789';

let directory: string;
let clock: FakeClock;
let tokens: AdminTokens;
let watcher: AdminTokenFile;
const log = { log: jest.fn(), error: jest.fn() };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-token-'));
  for (const level of ['log', 'error'] as const) jest.spyOn(Logger.prototype, level).mockImplementation(log[level]);
  clock = new FakeClock();
  tokens = new AdminTokens([{ name: 'admin', token: OLD }], clock);
});
afterEach(async () => {
  watcher.onApplicationShutdown();
  jest.restoreAllMocks();
  jest.clearAllMocks();
  await rm(directory, { recursive: true });
});

const nameOf = (token: string): string | undefined => tokens.nameOf(`Bearer ${token}`);

/** As Kubernetes mounts a secret: the file is a link through a directory that is replaced as a whole. */
async function mount(content: string): Promise<string> {
  const version = await mkdtemp(join(directory, 'version-'));
  await writeFile(join(version, 'token'), content);
  await symlink(version, join(directory, 'next'));
  await rename(join(directory, 'next'), join(directory, 'data'));
  return join(directory, 'data', 'token');
}

it('takes the tokens of a secret that is mounted anew', async () => {
  watcher = new AdminTokenFile(await mount(`${OLD}\n`), tokens, clock);
  watcher.onModuleInit();
  expect([nameOf(OLD), nameOf(NEW)]).toEqual(['admin', undefined]);
  await mount(`ops:${NEW}\n`);
  await clock.advance(5000);
  expect([nameOf(OLD), nameOf(NEW)]).toEqual([undefined, 'ops']);
  expect(log.log).toHaveBeenCalledWith(expect.stringContaining('valid are those of ops'));
  expect(JSON.stringify(log.log.mock.calls)).not.toContain(NEW);
});

it.each(['', 'short', 'aaaaaaaaaaaaaaaaaaaa'])(
  'keeps its tokens while the file is %j, and says so once',
  async (bad) => {
    watcher = new AdminTokenFile(await mount(OLD), tokens, clock);
    watcher.onModuleInit();
    await mount(bad);
    await clock.advance(20_000);
    expect(nameOf(OLD)).toBe('admin');
    expect(log.error).toHaveBeenCalledTimes(1);
    await mount(NEW);
    await clock.advance(5000);
    expect(nameOf(NEW)).toBe('admin');
  },
);

it('accepts no token while a file cannot be used from the beginning: a token may have been removed', async () => {
  watcher = new AdminTokenFile(await mount(''), tokens, clock);
  watcher.onModuleInit();
  expect(nameOf(OLD)).toBeUndefined();
  expect(log.error).toHaveBeenCalledWith(expect.stringContaining('No admin token is valid'));
  await mount(NEW);
  await clock.advance(5000);
  expect([nameOf(OLD), nameOf(NEW)]).toEqual([undefined, 'admin']);
});

it('ends with the server, and does nothing without a file', async () => {
  watcher = new AdminTokenFile(undefined, tokens, clock);
  watcher.onModuleInit();
  expect([clock.sleeping, nameOf(OLD)]).toEqual([0, 'admin']);
  await mkdir(join(directory, 'empty'));
  watcher = new AdminTokenFile(join(directory, 'empty', 'gone'), tokens, clock);
  watcher.onModuleInit();
  expect(clock.sleeping).toBe(1);
  watcher.onApplicationShutdown();
  await clock.advance(0);
  expect(clock.sleeping).toBe(0);
});
