import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
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

  describe('numbers', () => {
    const at = ['--at', '2026-06-01T12:00:00Z'];

    it('are new once, listed page by page, and settled', async () => {
      const args = ['--order', 'gapless', '--reset', 'yearly', '--pattern', 'Nº{YYYY}-{seq:3}', '--reissue'];
      expect(await leafJson(['tags', 'create', 'invoice', ...args], env)).toMatchObject({
        ...{ order: 'gapless', reset: 'yearly', pattern: 'Nº{YYYY}-{seq:3}', reissue: true },
      });
      const issued = await leaf(['numbers', 'issue', 'invoice', 'a', 'order 4711/1', 'c', ...at], env);
      expect(issued).toEqual({ code: 0, out: 'Nº2026-001\nNº2026-002\nNº2026-003\n', err: '' });
      const by = `leaf:${userInfo().username}`;
      expect(await leafJson(['numbers', 'issue', 'invoice', 'c', ...at], env)).toEqual({
        tag: 'invoice',
        numbers: [
          {
            ...{ tag: 'invoice', key: 'c', period: '2026', number: '3', text: 'Nº2026-003', state: 'issued' },
            ...{ issuedAt: expect.any(String), issuedBy: by },
          },
        ],
      });
      expect(await leafJson(['numbers', 'confirm', 'invoice', 'a'], env)).toMatchObject({
        ...{ number: '1', state: 'confirmed', settledBy: by },
      });
      expect((await leaf(['numbers', 'void', 'invoice', 'order 4711/1', '--reason', 'torn'], env)).out).toMatch(
        /^tag {8}invoice\nkey {8}order 4711\/1\n(.*\n)*state {6}void\n(.*\n)*reason {5}torn\n$/,
      );
      const { out, err } = await leaf(['numbers', 'list', 'invoice', '--period', '2026', '--limit', '2'], env);
      expect(out).toMatch(
        /^PERIOD +NUMBER .*\n2026 +Nº2026-001 +a +confirmed .*\n2026 +Nº2026-002 +order 4711\/1 +void .*torn\n$/,
      );
      expect(err).toBe('There are more numbers: leaf numbers list invoice --period 2026 --after 2026~2~0\n');
      expect(await leafJson(['numbers', 'list', 'invoice', '--after', '2026~2~0'], env)).toMatchObject({
        numbers: [{ key: 'c' }],
        next: null,
      });
      expect(await leafJson(['numbers', 'list', 'invoice', '--state', 'void'], env)).toMatchObject({
        numbers: [{ key: 'order 4711/1' }],
      });
      expect(await leafJson(['numbers', 'issue', 'invoice', 'd', ...at], env)).toMatchObject({
        numbers: [{ text: 'Nº2026-002' }],
      });
    });

    it('are audited, and a changed row fails the command', async () => {
      const audit = ['numbers', 'audit', 'invoice', '--period', '2026'];
      const { code, out } = await leaf(audit, env);
      expect(code).toBe(0);
      expect(out).toMatch(/^first {10}1\nlast {11}3\nissued {9}2\nconfirmed {6}1\nvoid {11}0\nreissued {7}1\n/m);
      expect(out).toMatch(/\n\nEvery number is on record, and the journal is intact\.\n$/);
      await database.execute("UPDATE leaf_number SET doc_key = 'x' WHERE biz_tag = 'invoice' AND number = 3");
      const changed = await leaf(audit, env);
      expect(changed.code).toBe(1);
      expect(changed.out).toMatch(/\nThe journal is not intact: number 3: its row says .*\n$/);
      await database.execute("DELETE FROM leaf_number WHERE biz_tag = 'invoice' AND number = 3");
      const { code: failed, out: json } = await leaf([...audit, '--json'], env);
      expect(failed).toBe(1);
      expect(JSON.parse(json)).toMatchObject({
        ...{ period: '2026', first: '1', last: '2', contiguous: false, missing: [{ from: '3', to: '3' }] },
        ...{ intact: false, fault: { number: '3' } },
      });
    });

    it('go on where the command says, in a journal sealed with the key of the servers', async () => {
      const key = 'a-key-of-16-characters';
      const keyed = { ...env, LEAF_NUMBERS_KEY: key };
      await leafJson(['tags', 'create', 'slip', '--order', 'gapless'], env);
      await leaf(['numbers', 'issue', 'slip', 'a'], keyed);
      const args = ['numbers', 'continue', 'slip', '--last', '3', '--reason', 'paper'];
      expect(await leaf(args, keyed)).toEqual({
        ...{ code: 0, out: 'Numbers up to 3 are on record; 2 of them became void.\n', err: '' },
      });
      expect(await leaf(['numbers', 'issue', 'slip', 'b'], keyed)).toMatchObject({ out: '4\n' });
      expect(await leafJson(['numbers', 'audit', 'slip'], keyed)).toMatchObject({ lines: 6, unverified: 0 });
      expect(await leafJson(['numbers', 'audit', 'slip'], env)).toMatchObject({ lines: 6, unverified: 6 });
      expect(await leafJson(['numbers', 'show', 'slip', 'b'], env)).not.toHaveProperty('period');
    });

    it.each([
      [['issue', 'nothing', 'a'], 'Create it: leaf tags create nothing --order gapless (LEAF_TAG_NOT_FOUND)'],
      [['issue', 'order', 'a'], '(LEAF_TAG_NOT_GAPLESS)'],
      [['issue', 'slip', '~a'], '(LEAF_REQUEST_INVALID)'],
      [['show', 'slip', 'z'], '(LEAF_NUMBER_NOT_FOUND)'],
      [['list', 'slip', '--after', 'z'], '"after" must be the value that the page before has given.'],
      [['continue', 'slip', '--last', '1', '--reason', 'x'], '(LEAF_MAX_ID_BACKWARDS)'],
    ])('%j is refused with one line', async (args, message) => {
      const { code, out, err } = await leaf(['numbers', ...args], env);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^leaf: [^\n]+\n$/);
      expect(err).toContain(message);
    });
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
    [['next', 'nothing'], 'Tag "nothing" does not exist. Create it: leaf tags create nothing (LEAF_TAG_NOT_FOUND)'],
    [
      ['tags', 'get', 'nothing'],
      'Tag "nothing" does not exist. Create it: leaf tags create nothing (LEAF_TAG_NOT_FOUND)',
    ],
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
    for (const args of [
      ['next', 'order'],
      ['range', 'order', '-n', '5'],
      ['tags'],
      ['tags', 'create', 'x'],
      ['numbers', 'issue', 'receipt', 'c'],
    ]) {
      const { code, out, err } = await leaf(args, env);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain('is one of several (other)');
    }
    expect(await leaf(['check'], env)).toMatchObject({ code: 1, err: '' });
  });
});
