import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { FakeClock } from '@leaf-ids/core/testing';
import { TokenFile } from './token-file';
import { TokenSet } from './token-set';

const OLD = 'old-token-0123456789';
const NEW = 'new-token-0123456789';

let directory: string;
let clock: FakeClock;
let tokens: TokenSet;
let watcher: TokenFile;
const log = { log: jest.fn(), warn: jest.fn(), error: jest.fn() };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-token-'));
  for (const level of ['log', 'warn', 'error'] as const)
    jest.spyOn(Logger.prototype, level).mockImplementation(log[level]);
  clock = new FakeClock();
  tokens = new TokenSet([{ name: 'admin', token: OLD }], clock);
});
afterEach(async () => {
  await watcher.onApplicationShutdown();
  jest.restoreAllMocks();
  jest.clearAllMocks();
  await rm(directory, { recursive: true });
});

const nameOf = (token: string): string | undefined => tokens.find(token)?.name;

function watch(file: string | undefined): TokenFile {
  return new TokenFile({ variable: 'LEAF_ADMIN_TOKEN_FILE', kind: 'admin', file }, tokens, clock);
}

/** As Kubernetes mounts a secret: the file is a link through a directory that is replaced as a whole. */
async function mount(content: string): Promise<string> {
  const version = await mkdtemp(join(directory, 'version-'));
  await writeFile(join(version, 'token'), content);
  await symlink(version, join(directory, 'next'));
  await rename(join(directory, 'next'), join(directory, 'data'));
  return join(directory, 'data', 'token');
}

it('takes the tokens of a secret that is mounted anew', async () => {
  watcher = watch(await mount(`${OLD}\n`));
  watcher.onModuleInit();
  expect([nameOf(OLD), nameOf(NEW)]).toEqual(['admin', undefined]);
  await clock.advance(10_000);
  expect(log.log).not.toHaveBeenCalled();
  await mount(`ops:${NEW}\n`);
  await clock.advance(20_000);
  expect([nameOf(OLD), nameOf(NEW)]).toEqual([undefined, 'ops']);
  expect(log.log.mock.calls).toEqual([[expect.stringMatching(/ valid are those of ops\.$/)]]);
  expect(JSON.stringify(log.log.mock.calls)).not.toContain(NEW);
});

it('warns of expired tokens at the start and when the file changes', async () => {
  const expired = `The admin token "old" expired at 1970-01-02T00:00:00.000Z and is refused: replace or remove it.`;
  tokens.replace([{ name: 'old', token: OLD, expiresAt: 86_400_000 }]);
  watcher = watch(undefined);
  watcher.onModuleInit();
  expect(log.warn.mock.calls).toEqual([[expired]]);
  watcher = watch(await mount(OLD));
  watcher.onModuleInit();
  log.warn.mockClear();
  await mount(`ops:${NEW},old:${OLD}@1970-01-02`);
  await clock.advance(5000);
  expect(log.warn.mock.calls).toEqual([[expired]]);
  expect(log.log).toHaveBeenLastCalledWith(expect.stringMatching(/valid are those of ops\.$/));
  await mount(`old:${OLD}@1970-01-02`);
  await clock.advance(5000);
  expect(log.log).toHaveBeenLastCalledWith(expect.stringMatching(/valid are those of nobody\.$/));
});

it.each(['', 'short', 'aaaaaaaaaaaaaaaaaaaa'])(
  'keeps its tokens while the file is %j, and says so once',
  async (bad) => {
    watcher = watch(await mount(OLD));
    watcher.onModuleInit();
    await mount(bad);
    await clock.advance(20_000);
    expect(nameOf(OLD)).toBe('admin');
    expect(log.error.mock.calls).toEqual([[expect.stringMatching(/^The admin tokens stay unchanged: /)]]);
    await mount(NEW);
    await clock.advance(5000);
    expect(nameOf(NEW)).toBe('admin');
    await mount(bad);
    await clock.advance(5000);
    expect(log.error).toHaveBeenCalledTimes(2);
  },
);

it('accepts no token while a file cannot be used from the beginning: a token may have been removed', async () => {
  watcher = watch(await mount(''));
  watcher.onModuleInit();
  expect(nameOf(OLD)).toBeUndefined();
  expect(log.error).toHaveBeenCalledWith(expect.stringContaining('No admin token is valid'));
  await mount(NEW);
  await clock.advance(5000);
  expect([nameOf(OLD), nameOf(NEW)]).toEqual([undefined, 'admin']);
});

it('ends with the server, and does nothing without a file', async () => {
  watcher = watch(undefined);
  watcher.onModuleInit();
  expect([clock.sleeping, nameOf(OLD)]).toEqual([0, 'admin']);
  await mkdir(join(directory, 'empty'));
  watcher = watch(join(directory, 'empty', 'gone'));
  watcher.onModuleInit();
  expect(clock.sleeping).toBe(1);
  await watcher.onApplicationShutdown();
  await clock.advance(0);
  expect(clock.sleeping).toBe(0);
});
