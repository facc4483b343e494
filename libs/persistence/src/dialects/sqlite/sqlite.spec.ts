import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '../../connections/connection-source';
import { sqlite, SQLITE_GUARD, SQLITE_TAGS, SQLITE_WORKERS } from './sqlite';

const { session, driver, schema } = sqlite;

function errorOf(code: string, message = 'broken'): Error {
  return Object.assign(new Error(message), { code });
}

describe('the URL of an SQLite database', () => {
  it.each([
    ['sqlite:/var/lib/none/leaf.sqlite', '/var/lib/none/leaf.sqlite'],
    ['sqlite:///var/lib/none/leaf.sqlite', '/var/lib/none/leaf.sqlite'],
    ['sqlite:none/leaf.sqlite', join(process.cwd(), 'none/leaf.sqlite')],
    ['sqlite:a:b', join(process.cwd(), 'a:b')],
  ])('%s is the file %s', (url, file) => {
    expect(sqlite.parse(url)).toEqual({ file, description: `sqlite:${file}` });
  });

  it.each(['sqlite::memory:', 'SQLite::Memory:'])('%s is a database in memory, and says so', (url) => {
    expect(sqlite.parse(url)).toEqual({ file: undefined, description: `${url} (nothing lasts)` });
  });

  it.each(['sqlite:', 'sqlite::x', 'mysqlite:/x', 'SQLITE:/x', ' sqlite:/x'])('%j is none', (url) => {
    expect(() => sqlite.parse(url)).toThrow('must be sqlite:<file> with the path of a file');
  });

  it('is told by an example', () => {
    expect(sqlite.schemes).toEqual(['sqlite']);
    expect(sqlite.example).toBe('sqlite:<file>');
  });
});

describe('a fault of SQLite', () => {
  it.each([
    ['SQLITE_BUSY', { again: 'soon', busy: true }, 'another process is writing'],
    ['SQLITE_BUSY_SNAPSHOT', { again: 'soon', busy: true }, 'another process is writing'],
    ['SQLITE_FULL', { again: 'later' }, 'the disk of the database is full'],
    ['SQLITE_READONLY', { again: 'later', byHand: true }, 'this user cannot write'],
  ])('%s: %j', (code, treatment, hint) => {
    expect(session.faultOf(errorOf(code))).toEqual({ ...treatment, hint: expect.stringContaining(hint) as string });
  });

  it('leaves the connection usable, and lets a start wait for another process alone', () => {
    expect(['SQLITE_CONSTRAINT', 'MY_SQLITE_X'].map((code) => session.ofStatement.test(code))).toEqual([true, false]);
    const codes = ['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_CORRUPT', 'MY_SQLITE_BUSY'];
    expect(codes.map((code) => session.isNotUpYet(errorOf(code)))).toEqual([true, true, false, false]);
    expect(session.isNotUpYet(new Error('no code'))).toBe(false);
  });

  it.each([
    [errorOf('SQLITE_NOTADB'), 'Nothing was changed. Restore the file from a backup.'],
    [errorOf('SQLITE_CORRUPT'), 'Nothing was changed. Restore the file from a backup.'],
    [new Error('file is damaged: x'), 'Nothing was changed. Restore the file from a backup.'],
    [new Error('database disk image is malformed'), 'Nothing was changed. Restore the file from a backup.'],
    [errorOf('SQLITE_BUSY'), 'Another process has locked the file; stop it'],
    [errorOf('SQLITE_CANTOPEN'), 'Check that the disk is writable'],
  ])('%s has a remedy', (error, remedy) => {
    expect(driver.advice(error, undefined)).toContain(remedy);
  });

  it('of a session does not come from settings', async () => {
    const statement = (): Promise<never> => Promise.reject(new Error('no statement is needed'));
    expect(await session.begin(statement, { statementMs: 1 }, undefined)).toStrictEqual([]);
    expect([session.durabilitySettings, session.isFile]).toStrictEqual([[], true]);
  });
});

describe('the dialect of SQLite', () => {
  it('has one writer: no connection of an application is shared', () => {
    expect(driver.lends).toStrictEqual([]);
    expect(() => driver.shared({ type: 'mysql' } as never, {}, DEFAULT_LIMITS)).toThrow('mysql cannot be shared');
  });

  it('holds whole numbers in columns of integer affinity only', () => {
    expect(['bigint', 'int', 'integer', 'text', 'real'].map((type) => schema.holds(type, 'bigint'))).toEqual([
      ...[true, true, true, false, false],
    ]);
    expect([schema.type, schema.isTransactional]).toEqual(['better-sqlite3', true]);
  });

  it('opens a file, or a database in memory, with the limit of a query', async () => {
    const file = await driver.options({ file: '/x/leaf.sqlite', description: '' }, { logging: false }, DEFAULT_LIMITS);
    expect(file).toMatchObject({
      ...{ type: 'better-sqlite3', database: '/x/leaf.sqlite', timeout: DEFAULT_LIMITS.queryMs, logging: false },
    });
    const memory = await driver.options({ file: undefined, description: '' }, {}, DEFAULT_LIMITS);
    expect(memory).toMatchObject({ database: ':memory:' });
    await expect(driver.prepare?.({ file: undefined, description: '' })).resolves.toBeUndefined();
  });

  it('has no replicas, so that the identity of each file is the same', async () => {
    const statement = (): Promise<never> => Promise.reject(new Error('no statement is needed'));
    expect(await SQLITE_GUARD.askIdentity(statement)).toEqual({ server: 'sqlite', expression: "'sqlite'" });
    expect(await SQLITE_WORKERS.askOrigin(statement as never)).toBe("'sqlite'");
    expect(SQLITE_WORKERS.isOrigin('x')).toBe('x = ?');
    expect([SQLITE_WORKERS.zeroIsNext, SQLITE_WORKERS.raiseNumbering, SQLITE_WORKERS.now]).toEqual([
      ...[false, undefined, undefined],
    ]);
  });

  it('compares numbers as numbers, and locks no rows', () => {
    expect(SQLITE_TAGS.decimal('max_id')).toBe('CAST(CAST(max_id AS INTEGER) AS TEXT)');
    expect(SQLITE_TAGS.textOf('max_id')).toBe('CAST(max_id AS TEXT)');
    expect([SQLITE_TAGS.greatest, SQLITE_TAGS.least, SQLITE_TAGS.number, SQLITE_TAGS.forUpdate]).toEqual([
      ...['MAX', 'MIN', '?', ''],
    ]);
  });
});

describe('the directory of an SQLite file', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-sqlite-'))));
  afterEach(() => rm(directory, { recursive: true }));

  const prepare = (file: string): Promise<void> | undefined =>
    driver.prepare?.({ file: join(directory, file), description: '' });

  it('is made with the file, which is never empty', async () => {
    await prepare('a/b/leaf.sqlite');
    await prepare('a/b/leaf.sqlite');
    expect(await readdir(join(directory, 'a/b'))).toEqual(['leaf.sqlite']);
  });

  it('is named when it cannot be made', async () => {
    await writeFile(join(directory, 'file'), '');
    const message = expect.stringMatching(/file\/b cannot be created: .*\. Create it for this user/) as string;
    await expect(prepare('file/b/leaf.sqlite')).rejects.toMatchObject({
      ...{ code: 'LEAF_DATA_DIR_UNUSABLE', message, cause: { code: 'ENOTDIR' } },
    });
  });
});
