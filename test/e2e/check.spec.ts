import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseReport } from '@leaf-ids/persistence';
import { sqlFixture } from '../support/contract/sql-stores';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { text } from '../support/http/http';

const servers = new BuiltServers();

beforeAll(() => ensureBuilt());
afterEach(() => servers.end());

interface Checked {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function check(directory: string, env: NodeJS.ProcessEnv = {}, ...args: string[]): Promise<Checked> {
  const server = servers.spawn(directory, env, ['check', ...args]);
  const { code } = await server.exit();
  return { code, stdout: server.stdout, stderr: server.stderr };
}

/** Databases `a` and `b` in files of `directory`. */
function twoDatabases(directory: string, tags: Record<string, string> = {}): NodeJS.ProcessEnv {
  const urls = Object.fromEntries(['a', 'b'].map((name) => [name, `sqlite:${join(directory, name)}.sqlite`]));
  return { LEAF_DATABASE_URLS: JSON.stringify(urls), LEAF_DATABASE_TAGS: JSON.stringify(tags) };
}

describe('leaf-server check', () => {
  it('says that a database is new, and makes none', async () => {
    const directory = await servers.makeDirectory();
    const { code, stdout } = await check(directory);
    expect(code).toBe(1);
    expect(stdout).toContain('is new');
    expect(await readdir(directory)).toStrictEqual([]);
  });

  it('finds every tag of a running server where it belongs', async () => {
    const directory = await servers.makeDirectory();
    const { port } = await servers.start(directory);
    await text(port, '/api/segment/get/leaf-segment-test');
    const { code, stdout } = await check(directory);
    expect(stdout).toMatch(/^leaf-segment-test +database +database +2001 +ok$/m);
    expect(stdout).toContain('Every tag is in the correct database.');
    expect(code).toBe(0);
  });

  it('names what is misplaced, left over, behind, missing and unreadable', async () => {
    const directory = await servers.makeDirectory();
    const pins = { moved: 'b', 'left-over': 'b', behind: 'b', deleted: 'b', good: 'a' };
    const env = twoDatabases(directory, pins);
    const rows = {
      a: await sqlFixture(`sqlite:${join(directory, 'a.sqlite')}`, () => Promise.resolve()),
      b: await sqlFixture(`sqlite:${join(directory, 'b.sqlite')}`, () => Promise.resolve()),
    };
    await rows.a.putRow('moved', 500n, 10);
    await rows.a.putRow('left-over', 500n, 10);
    await rows.b.putRow('left-over', 500n, 10);
    await rows.a.putRow('behind', 500n, 10);
    await rows.b.putRow('behind', 499n, 10);
    await rows.b.putRow('deleted', 1n, 10);
    await rows.a.store.recordDeleted('deleted', 700n);
    await rows.a.putRow('good', 1n, 10);
    await rows.a.execute("INSERT INTO leaf_registry (name, document) VALUES ('database:c', '{}')");
    await rows.a.close();
    await rows.b.close();
    const { code, stdout } = await check(directory, env, '--json');
    const report = JSON.parse(stdout) as DatabaseReport;
    expect(report).toMatchObject({
      ok: false,
      databases: [{ name: 'a', state: 'ready', tags: 4, deleted: 1 }, { name: 'b' }],
    });
    expect(report.tags.map(({ tag, database, state }) => [tag, database, state])).toEqual([
      ['behind', 'a', 'left over'],
      ['behind', 'b', 'behind'],
      ['deleted', 'b', 'behind'],
      ['good', 'a', 'ok'],
      ['left-over', 'a', 'left over'],
      ['left-over', 'b', 'ok'],
      ['moved', 'a', 'misplaced'],
    ]);
    expect(report.problems.join('\n')).toContain('"c" has or had tags');
    expect(report.problems).toHaveLength(6);
    expect(code).toBe(1);
    const unreadable = {
      ...env,
      LEAF_DATABASE_URLS: JSON.stringify({ a: `sqlite:${directory}`, b: 'sqlite:/nowhere' }),
    };
    const refused = (await check(directory, unreadable, '--json')).stdout;
    expect(refused).toContain('"state": "unusable"');
    expect(refused).not.toContain('..');
  });

  it('refuses an argument that it does not know', async () => {
    const { code, stderr } = await check(await servers.makeDirectory(), {}, '--jsn');
    expect(code).toBe(2);
    expect(stderr).toContain('--jsn');
  });
});
