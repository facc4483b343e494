import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SqlFixture, sqlFixture } from '../../support/contract/sql-stores';
import { insertTag } from '../../support/servers/data-directory';
import { leaf, leafJson } from '../../support/leaf-command';

describe('leaf with an SQLite file', () => {
  let directory: string;
  let database: SqlFixture;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-cli-'));
    env = { LEAF_DATABASE_URL: `sqlite:${join(directory, 'leaf.sqlite')}` };
    database = await sqlFixture(env.LEAF_DATABASE_URL!, () => rm(directory, { recursive: true, force: true }));
  });
  afterAll(() => database.close());

  it('takes the IDs that it prints, and returns the others', async () => {
    expect(await leafJson(['tags', 'create', 'order', '--step', '100', '--description', 'numbers'], env)).toMatchObject(
      {
        tag: 'order',
        maxId: '1',
        step: 100,
      },
    );
    expect(await leaf(['next', 'order'], env)).toEqual({ code: 0, out: '1\n', err: '' });
    expect(await leafJson(['next', 'order', '-n', '2'], env)).toEqual({ tag: 'order', ids: ['2', '3'] });
    expect(await leaf(['range', 'order', '-n', '1000'], env)).toEqual({ code: 0, out: '4 1003\n', err: '' });
    expect(await leafJson(['tags', 'get', 'order'], env)).toMatchObject({ maxId: '1004', description: 'numbers' });
  });

  it('prints numbers of a period by a pattern', async () => {
    insertTag(directory, { tag: 'receipt', step: 10, reset: 'yearly' });
    const year = new Date().getUTCFullYear();
    const format = ['--format', 'R{YYYY}-{seq:3}'];
    expect(await leaf(['next', 'receipt', ...format], env)).toEqual({ code: 0, out: `R${year}-001\n`, err: '' });
    expect(await leafJson(['next', 'receipt', '-n', '2', ...format], env)).toEqual({
      tag: 'receipt',
      texts: [`R${year}-002`, `R${year}-003`],
    });
    const { code, err } = await leaf(['next', 'receipt', '--format', '{MM}{seq}'], env);
    expect(code).toBe(1);
    expect(err).toMatch(/^leaf: Invalid pattern: unknown placeholder \{MM\}; [^\n]+ \(LEAF_CONFIG_INVALID\)\n$/);
  });

  it('creates a tag that restarts each week or fiscal year', async () => {
    const args = ['--reset', 'fiscal:04-01', '--zone', 'Asia/Tokyo'];
    expect(await leafJson(['tags', 'create', 'tax', ...args], env)).toMatchObject({
      reset: 'fiscal:04-01',
      zone: 'Asia/Tokyo',
    });
    expect(await leafJson(['tags', 'create', 'batch', '--reset', 'weekly'], env)).toMatchObject({ reset: 'weekly' });
    const { out } = await leaf(['next', 'tax', '--format', 'T{FY}-{seq:3}'], env);
    expect(out).toMatch(/^T\d{4}-001\n$/);
    expect((await leaf(['next', 'batch', '--format', '{YYYY}W{WW}-{seq:3}'], env)).out).toMatch(/^\d{4}W\d\d-001\n$/);
    expect(await database.execute("SELECT biz_tag FROM leaf_alloc WHERE biz_tag LIKE 'tax@%'")).toEqual([
      { biz_tag: `tax@${out.slice(1, 5)}/04-01` },
    ]);
    expect((await leaf(['tags', 'create', 'x', '--reset', 'fiscal:02-29'], env)).code).toBe(2);
  });

  it('lists tags page by page', async () => {
    for (const tag of ['b1', 'b2', 'b3']) await database.putRow(tag, 5n, 10);
    const { out, err } = await leaf(['tags', '--after', 'b', '--limit', '2'], env);
    expect(out).toMatch(/^TAG .*\nb1 +5 +10\nb2 +5 +10\n$/m);
    expect(err).toBe('There are more tags: leaf tags list --after b2\n');
    expect(await leafJson(['tags', 'list', '--after', 'b2', '--limit', '1'], env)).toMatchObject({
      tags: [{ tag: 'b3' }],
    });
  });

  it('check prints the report of leaf-server check', async () => {
    const { code, out } = await leaf(['check'], env);
    expect(code).toBe(0);
    expect(out).toMatch(/^order +database +database +1004 +ok$/m);
    expect(out).toMatch(/\n\nEvery tag is in the correct database\.\n$/);
    expect(await leafJson(['check'], env)).toMatchObject({ ok: true, problems: [] });
  });

  it('decodes by the default layout', async () => {
    expect(await leafJson(['decode', '1169786042799259000'], env)).toMatchObject({ workerId: 39, sequence: 3448 });
  });

  it('refuses snowflake IDs: the worker IDs of its servers are not in the file', async () => {
    const { code, out, err } = await leaf(['snowflake'], env);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^leaf: The worker IDs of an SQLite [^\n]+\. Take the snowflake ID from a server: --url or LEAF_URL\. \(.+\)\n$/,
    );
  });

  it('prefers --database to LEAF_URL, and LEAF_URL to LEAF_DATABASE_URL', async () => {
    const nowhere = { LEAF_URL: 'http://127.0.0.1:9' };
    const { LEAF_DATABASE_URL: url = '' } = env;
    expect((await leaf(['tags', '--database', url], nowhere)).code).toBe(0);
    const { code, err } = await leaf(['tags'], { ...env, ...nowhere });
    expect(code).toBe(1);
    expect(err).toContain('The server http://127.0.0.1:9 ');
  });

  it.each([
    [['next', 'nothing'], 'There is no tag "nothing". Create it: leaf tags create nothing (LEAF_TAG_NOT_FOUND)'],
    [['tags', 'get', 'nothing'], 'There is no tag "nothing". Create it: leaf tags create nothing (LEAF_TAG_NOT_FOUND)'],
    [['tags', 'create', 'order'], '(LEAF_TAG_EXISTS)'],
    [['tags', 'get', 'a/b'], '(LEAF_TAG_INVALID)'],
  ])('%j is refused with one line', async (args, message) => {
    const { code, out, err } = await leaf(args, env);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^leaf: [^\n]+\n$/);
    expect(err).toContain(message);
  });

  it.each([['next', 'order'], ['tags'], ['tags', 'create', 'order'], ['snowflake'], ['check']])(
    '%s %s creates no file',
    async (...args) => {
      const file = join(directory, 'new.sqlite');
      const { code } = await leaf([...args, '--database', `sqlite:${file}`]);
      expect(code).toBe(1);
      expect(existsSync(file)).toBe(false);
    },
  );

  it('refuses a URL of another kind, and a server that is away, at once', async () => {
    const kind = await leaf(['next', 'order', '--database', 'oracle://a']);
    expect(kind.err).toContain('The database URL must be mysql://');
    const away = await leaf(['next', 'order', '--database', 'mysql://root:secret@127.0.0.1:1/leaf']);
    expect(away.code).toBe(1);
    expect(away.err).toMatch(/^leaf: The database mysql:\/\/127\.0\.0\.1:1\/leaf cannot be used: [^\n]+\n$/);
  });

  it('refuses one of several databases, whose tags can belong to another one', async () => {
    await database.execute("INSERT INTO leaf_registry (name, document) VALUES ('database:other', '{}')");
    for (const args of [['next', 'order'], ['range', 'order', '-n', '5'], ['tags'], ['tags', 'create', 'x']]) {
      const { code, out, err } = await leaf(args, env);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain('is one of several (other)');
    }
    expect(await leaf(['check'], env)).toMatchObject({ code: 1, err: '' });
  });
});
