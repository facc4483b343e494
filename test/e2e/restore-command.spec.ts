import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RestoreReport } from '@leaf-ids/persistence';
import { ADMIN_TOKEN, admin } from '../support/http/admin';
import { json, text } from '../support/http/http';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';

const GAP = 10_000_000n;

const servers = new BuiltServers();
let directory: string;
let settings: NodeJS.ProcessEnv;
const file = (name: string): string => join(directory, `${name}.sqlite`);

beforeAll(() => ensureBuilt());
beforeEach(async () => {
  directory = await servers.makeDirectory();
  const urls = { a: `sqlite:${file('a')}`, b: `sqlite:${file('b')}` };
  settings = {
    LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
    LEAF_SNOWFLAKE_ENABLED: 'false',
    LEAF_SHUTDOWN_DRAIN_MS: '0',
    LEAF_DATABASE_URLS: JSON.stringify(urls),
    LEAF_DATABASE_TAGS: JSON.stringify({ order: 'a', invoice: 'a', other: 'b', 'leaf-segment-test': 'b' }),
  };
});
afterEach(() => servers.end());

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(...args: string[]): Promise<Ended> {
  const command = servers.spawn(directory, settings, args);
  const { code } = await command.exit();
  return { code, stdout: command.stdout, stderr: command.stderr };
}

async function report(code: number, ...args: string[]): Promise<RestoreReport> {
  const ended = await run('restore', '--database', 'a', '--json', ...args);
  expect(ended).toMatchObject({ code, stderr: '' });
  return JSON.parse(ended.stdout) as RestoreReport;
}

async function stop(server: BuiltServer): Promise<void> {
  server.signal('SIGTERM');
  await server.exit();
}

const start = (): Promise<BuiltServer> => servers.start(directory, settings);
const next = async ({ port }: BuiltServer, tag: string): Promise<bigint> =>
  BigInt(await text(port, `/api/segment/get/${tag}`));
const nextOfPeriod = async ({ port }: BuiltServer): Promise<bigint> =>
  BigInt((await json<{ ranges: { from: string }[] }>(port, '/api/segment/period/invoice?size=1')).ranges[0]!.from);

/** The newest changes are in the write-ahead log. */
async function copy(from: string, to: string): Promise<void> {
  for (const part of ['', '-wal', '-shm']) {
    await rm(file(to) + part, { force: true });
    await copyFile(file(from) + part, file(to) + part).catch(() => expect(part).not.toBe(''));
  }
}

/** A database `a` from before its newest IDs. */
async function restoredBackup(): Promise<void> {
  const server = await start();
  await admin(server.port, 'POST', '/api/tags', { tag: 'order', step: 100 });
  await admin(server.port, 'POST', '/api/tags', { tag: 'other', step: 100 });
  await admin(server.port, 'POST', '/api/tags', {
    tag: 'invoice',
    step: 10,
    maxStep: 10,
    reset: 'yearly',
    max: '99999',
  });
  const interleave = { of: 2, remainder: 0, block: 100 };
  await admin(server.port, 'POST', '/api/tags', { tag: 'shared', step: 100, interleave });
  await stop(server);
  await copy('a', 'copy');
  const later = await start();
  for (const tag of ['order', 'other', 'shared']) await next(later, tag);
  for (let n = 0; n < 5; n++) await nextOfPeriod(later);
  await stop(later);
  await copy('copy', 'a');
}

describe('leaf-server restore', () => {
  it('moves one of several databases, and says which tags are used up', async () => {
    await restoredBackup();
    const before = await report(3, '--dry-run');
    expect(before).toMatchObject({ dryRun: true, gap: String(GAP) });
    const first = await report(3);
    expect(first).toEqual({ ...before, dryRun: false });
    const states = first.rows.map(({ row, before: from, after, state }) => [row, BigInt(after) - BigInt(from), state]);
    expect(states).toEqual([
      ['invoice', 99_999n, 'used up'],
      ['order', GAP, 'moved'],
      ['shared', expect.any(BigInt), 'moved'],
    ]);
    const server = await start();
    expect(await next(server, 'order')).toBeGreaterThan(GAP);
    expect(await next(server, 'other')).toBeLessThan(1000n);
    await admin(server.port, 'PATCH', '/api/tags/invoice', { max: '999999' });
    expect(await nextOfPeriod(server)).toBe(100_000n);
    await stop(server);
    expect((await run('check')).code).toBe(0);
    expect((await report(3)).rows.find(({ row }) => row === 'order')?.before).toMatch(/^1000\d{4}$/);
  });

  it('continues above the highest ID of a tag that is known', async () => {
    await restoredBackup();
    const { rows } = await report(0, '--issued', 'invoice=500', '--issued', 'order=7000', '--gap', '5000');
    expect(rows).toMatchObject([
      { row: 'invoice', before: '1', after: '501', max: '99999', state: 'moved' },
      { row: 'order', after: '7001' },
      { row: 'shared', after: '10001' },
    ]);
    const server = await start();
    expect([await nextOfPeriod(server), await next(server, 'order')]).toEqual([501n, 7001n]);
  });

  it('prints a table', async () => {
    await restoredBackup();
    const { code, stdout } = await run('restore', '--database', 'a');
    expect(code).toBe(3);
    expect(stdout).toMatch(/^ROW +BACKUP +NEXT ID +MAX +STATE\ninvoice +1 +100000 +99999 +used up$/m);
    expect(stdout).toContain('Used up: invoice. Raise max');
  });

  it.each([
    [[], 1, 'Several databases are configured. Name the restored one: --database a|b.'],
    [['--database', 'c'], 1, 'Database "c" does not exist'],
    [['--database', 'a'], 1, 'has no tables of Leaf. Load the backup first'],
    [['--database', 'a', '--issued', 'order'], 2, 'Use a tag and its highest ID'],
    [['--gap', '0'], 2, 'Use a whole number from 1'],
  ])('%j ends with the code %d', async (args, code, message) => {
    const ended = await run('restore', ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(message);
  });

  it('refuses an unknown tag, and changes nothing', async () => {
    await restoredBackup();
    const { code, stderr } = await run('restore', '--database', 'a', '--issued', 'typo=5');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('typo') as string });
    expect((await report(3, '--dry-run')).rows[0]).toMatchObject({ row: 'invoice', before: '1' });
  });
});
