import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { migrations } from '@leaf-ids/migrations';
import { parseDatabaseUrl } from './database-url';
import type { LeafDataSource } from './leaf-data-source';
import { FIRST_TAG, openDatabase } from './open-database';

describe('openDatabase', () => {
  let directory: string;
  const opened: LeafDataSource[] = [];
  const problems: string[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-open-'));
  });

  afterEach(async () => {
    for (const dataSource of opened.splice(0)) await dataSource.destroy();
    await rm(directory, { recursive: true, force: true });
    expect(problems.splice(0)).toStrictEqual([]);
  });

  async function open(file = 'leaf.sqlite', migrate = true): Promise<LeafDataSource> {
    const dataSource = await openDatabase(
      {
        target: parseDatabaseUrl(`sqlite:${join(directory, file)}`),
        migrate,
        firstTag: FIRST_TAG,
        onCloseProblem: (step, problem) => problems.push(`${step}: ${problem}`),
      },
      new SystemClock(),
      systemRandom,
    );
    opened.push(dataSource);
    return dataSource;
  }

  it('creates the tables of the Java service, column for column', async () => {
    const dataSource = await open();
    const columns = await dataSource.query<{ name: string; type: string; notnull: number; pk: number }[]>(
      'PRAGMA table_info(leaf_alloc)',
    );
    const ofJava = columns.slice(0, 5);
    expect(ofJava.map(({ name, type, pk }) => `${name} ${type}${pk === 1 ? ' key' : ''}`)).toEqual([
      'biz_tag varchar(128) key',
      'max_id bigint',
      'step INT',
      'description varchar(256)',
      'update_time timestamp',
    ]);
  });

  it('inserts the test tag into a table that it created', async () => {
    const rows = await (await open()).query('SELECT biz_tag, max_id, step FROM leaf_alloc');
    expect(rows).toEqual([expect.objectContaining({ biz_tag: 'leaf-segment-test', max_id: 1, step: 2000 })]);
  });

  it('does not create a deleted tag again', async () => {
    const first = await open();
    await first.query('DELETE FROM leaf_alloc');
    await first.destroy();
    expect(await (await open()).query('SELECT * FROM leaf_alloc')).toStrictEqual([]);
  });

  it('does not change an existing table with rows', async () => {
    const first = await open('leaf.sqlite', false);
    await first.query(
      'CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint, step int, description text, update_time text)',
    );
    await first.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('mine', 7, 3)");
    await first.destroy();
    expect(await (await open()).query('SELECT biz_tag, max_id FROM leaf_alloc')).toEqual([
      expect.objectContaining({ biz_tag: 'mine', max_id: 7 }),
    ]);
  });

  it('is durable: every commit is synced', async () => {
    const dataSource = await open();
    expect(await dataSource.query('PRAGMA journal_mode')).toEqual([expect.objectContaining({ journal_mode: 'wal' })]);
    // 2 is FULL.
    expect(await dataSource.query('PRAGMA synchronous')).toEqual([expect.objectContaining({ synchronous: 2 })]);
  });

  it('supports eight servers that start on one new file', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => open()));
    for (const dataSource of all) {
      expect(await dataSource.query('SELECT biz_tag FROM leaf_alloc')).toHaveLength(1);
      expect(await dataSource.query('SELECT name FROM leaf_migrations')).toHaveLength(migrations.length);
    }
  });

  it.each([
    ['not a database', 'this is plain text, not a database '.repeat(100)],
    ['empty', ''],
    ['cut off', 'SQLite format 3\0 and nothing more'],
  ])('refuses a file that is %s, and does not change it', async (_, content) => {
    const path = join(directory, 'leaf.sqlite');
    await writeFile(path, content);
    const opening = open();
    await expect(opening).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
    await expect(opening).rejects.toThrow(path);
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  it('refuses a database with a damaged page', async () => {
    const path = join(directory, 'leaf.sqlite');
    const first = await open();
    await first.query('PRAGMA wal_checkpoint(TRUNCATE)');
    await first.destroy();
    const bytes = await readFile(path);
    bytes.fill(0xff, 4096, 4096 * 4);
    await writeFile(path, bytes);
    await expect(open()).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
    expect((await readFile(path)).equals(bytes)).toBe(true);
  });

  it('names a directory that cannot be created', async () => {
    await writeFile(join(directory, 'file'), '');
    const opening = open('file/below/leaf.sqlite');
    await expect(opening).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
    await expect(opening).rejects.toThrow(join(directory, 'file', 'below'));
  });

  it('names a file that cannot be opened', async () => {
    await mkdir(join(directory, 'leaf.sqlite'));
    const opening = open();
    await expect(opening).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
    await expect(opening).rejects.toThrow(join(directory, 'leaf.sqlite'));
  });
});

describe('parseDatabaseUrl', () => {
  it.each([
    ['sqlite:/var/lib/leaf.sqlite', '/var/lib/leaf.sqlite'],
    ['sqlite:///var/lib/leaf.sqlite', '/var/lib/leaf.sqlite'],
    ['sqlite:leaf.sqlite', join(process.cwd(), 'leaf.sqlite')],
    ['sqlite:./a b/leaf.sqlite', join(process.cwd(), 'a b', 'leaf.sqlite')],
  ])('%s is %s', (url, file) => {
    expect(parseDatabaseUrl(url)).toEqual({ dialect: 'sqlite', file, description: `sqlite:${file}` });
  });

  it.each([
    [
      'mysql://u:p%40ss@db/leaf',
      { dialect: 'mysql', host: 'db', port: 3306, username: 'u', password: 'p@ss', tls: 'off' },
    ],
    ['mariadb://u@db:3307/leaf', { dialect: 'mysql', port: 3307, password: '', database: 'leaf' }],
    ['postgres://u@[::1]/leaf?sslmode=verify-full', { dialect: 'postgres', host: '::1', port: 5432, tls: 'verify' }],
    ['postgresql://u@db/leaf?sslmode=require', { dialect: 'postgres', tls: 'on' }],
    ['mysql://u@db/leaf?ssl=true', { dialect: 'mysql', tls: 'verify' }],
  ])('%s is read', (url, target) => {
    expect(parseDatabaseUrl(url)).toMatchObject(target);
  });

  it('describes a server without its secrets', () => {
    expect(parseDatabaseUrl('mysql://u:secret@db/leaf').description).toBe('mysql://db:3306/leaf');
  });

  it.each([
    ...[
      '',
      'sqlite:',
      'sqlite::memory',
      'sqlite:::memory:',
      'leaf.sqlite',
      'oracle://u:secret@h/leaf',
      'mysql://u:secret@h',
      'mysql://',
    ],
    ...['mysql://u:secret@h/a/b', 'mysql://u:secret@h/leaf?sslmode=maybe', 'mysql://u:secret@h/leaf?allowPublicKey=1'],
    ...['mysql://u:secret@10.0.0.7/leaf?sslmode=verify-full', 'mysql://u:secret@h/leaf?sslrootcert=/ca.pem'],
  ])('%j is refused', (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow(expect.objectContaining({ code: 'LEAF_CONFIG_INVALID' }));
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('secret') }),
    );
  });
});
