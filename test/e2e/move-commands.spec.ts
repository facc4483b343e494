import { join } from 'node:path';
import type { DatabaseReport, RemovalReport } from '@leaf-ids/persistence';
import { ensureBuilt } from '../support/build';
import { ADMIN_TOKEN, admin } from '../support/http/admin';
import { call, text } from '../support/http/http';
import { BuiltServers } from '../support/servers/built-server';

const servers = new BuiltServers();
let directory: string;
let settings: NodeJS.ProcessEnv;

beforeAll(() => ensureBuilt());
beforeEach(async () => {
  directory = await servers.makeDirectory();
  settings = settingsOf(['a', 'b', 'c'], { order: 'c', other: 'b' });
});
afterEach(() => servers.end());

function settingsOf(names: readonly string[], tags: Record<string, string>): NodeJS.ProcessEnv {
  const urls = Object.fromEntries(names.map((name) => [name, `sqlite:${join(directory, name)}.sqlite`]));
  return {
    LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
    LEAF_SNOWFLAKE_ENABLED: 'false',
    LEAF_SHUTDOWN_DRAIN_MS: '0',
    LEAF_DATABASE_URLS: JSON.stringify(urls),
    LEAF_DATABASE_TAGS: JSON.stringify(tags),
  };
}

async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = servers.spawn(directory, settings, args);
  const { code } = await command.exit();
  return { code, stdout: command.stdout, stderr: command.stderr };
}

describe('leaf-server move-tags', () => {
  it('moves tags that the settings assign to another database beside a server with the former settings', async () => {
    const { port } = await servers.start(directory, settings);
    await admin(port, 'POST', '/api/tags', { tag: 'order', step: 100, order: 'strict' });
    expect(await text(port, '/api/segment/get/order')).toBe('1');
    settings = settingsOf(['a', 'b', 'c'], { order: 'a', other: 'b' });
    expect((await run('check')).stdout).toContain('leaf-server move-tags');
    const dry = await run('move-tags', '--dry-run', '--json');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    const tags = [{ tag: 'order', from: 'c', to: 'a', rows: 1 }];
    expect(JSON.parse(dry.stdout)).toEqual({ dryRun: true, tags });
    expect(await text(port, '/api/segment/get/order')).toBe('2');
    const { code, stdout } = await run('move-tags', 'order');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^order +c +a +1$/m);
    expect((await call(port, '/api/segment/get/order')).status).toBe(404);
    expect((await run('check')).code).toBe(0);
    const next = await servers.start(directory, settings);
    expect(await text(next.port, '/api/segment/get/order')).toBe('3');
    expect((await run('move-tags')).stdout).toContain('Nothing to move');
  });
});

describe('leaf-server remove-database', () => {
  it('moves the tags beside a running server, which refuses them until it is restarted with the shorter list', async () => {
    const { port } = await servers.start(directory, settings);
    await admin(port, 'POST', '/api/tags', { tag: 'order', step: 100, order: 'strict' });
    expect(await text(port, '/api/segment/get/order')).toBe('1');
    const dry = await run('remove-database', '--database', 'c', '--dry-run', '--json');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    const report = JSON.parse(dry.stdout) as RemovalReport;
    expect(report).toMatchObject({ database: 'c', dryRun: true, remaining: ['a', 'b'], assigned: ['order'] });
    expect(report.tags.find(({ tag }) => tag === 'order')).toEqual({ tag: 'order', from: 'c', to: 'b', rows: 1 });
    expect(await text(port, '/api/segment/get/order')).toBe('2');
    const { code, stdout } = await run('remove-database', '--database', 'c');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^order +c +b +1$/m);
    expect(stdout).toContain('Restart the servers with a, b in LEAF_DATABASE_URLS');
    expect(stdout).toContain('Remove order from LEAF_DATABASE_TAGS');
    expect((await call(port, '/api/segment/get/order')).body).toContain('LEAF_DATABASE_URLS');
    const old = JSON.parse((await run('check', '--json')).stdout) as DatabaseReport;
    expect(old.problems.join(' ')).toContain('"c" was removed with leaf-server remove-database');
    settings = settingsOf(['a', 'b'], { other: 'b' });
    expect((await run('check')).code).toBe(0);
    const next = await servers.start(directory, settings);
    expect(await text(next.port, '/api/segment/get/order')).toBe('3');
  });

  it.each([
    [['--database', 'd'], 'Unknown database "d": LEAF_DATABASE_URLS lists a, b, c.'],
    [['--database', 'c'], 'is new'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await run('remove-database', ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});
