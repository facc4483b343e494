import { connect } from '../../../../test/support/contract/sql-stores';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { sqlite } from '../dialects/sqlite/sqlite';
import { inTransaction, locked, migrate, type MigrateOptions, MigrationsLocked } from './migrate';
import type { SchemaDialect } from './schema-dialect';

describe('migrate', () => {
  let database: LeafDataSource;
  let locks: number;
  let created: number;
  let alone: SchemaDialect['alone'];
  beforeEach(async () => {
    [locks, created, alone] = [0, 0, sqlite.schema.alone];
    database = await connect(parseDatabaseUrl('sqlite::memory:'), false);
  });
  afterEach(() => database.destroy());

  function run(options: MigrateOptions = {}): Promise<void> {
    const dialect: SchemaDialect = {
      ...sqlite.schema,
      alone: (...given) => {
        locks++;
        return alone(...given);
      },
    };
    return migrate(database, dialect, { onCreated: () => created++, ...options });
  }
  const tags = (): Promise<object[]> => database.query('SELECT biz_tag, max_id, step, description FROM leaf_alloc');

  it('creates the tables and the first tag once', async () => {
    await run({ firstTag: 'first' });
    const first = { biz_tag: 'first', max_id: 1, step: 2000, description: 'Test leaf Segment Mode Get Id' };
    expect(await tags()).toEqual([first]);
    await database.query('DELETE FROM leaf_alloc');
    await run({ firstTag: 'first' });
    expect(await tags()).toStrictEqual([]);
    expect([locks, created]).toEqual([1, 1]);
  });

  it('creates no tag unless it is given one', async () => {
    await run();
    expect(await tags()).toStrictEqual([]);
    expect(created).toBe(1);
  });

  it('calls nobody who does not ask for it', async () => {
    await migrate(database, sqlite.schema, {});
    expect(await tags()).toStrictEqual([]);
  });

  it('keeps the tags of an earlier program', async () => {
    await database.query(
      'CREATE TABLE leaf_alloc (biz_tag PRIMARY KEY, max_id bigint, step int, description, update_time)',
    );
    const mine = { biz_tag: 'mine', max_id: 7, step: 3, description: null };
    await database.query("INSERT INTO leaf_alloc VALUES ('mine', 7, 3, NULL, NULL)");
    await run({ firstTag: 'first' });
    expect(await tags()).toEqual([mine]);
    expect(created).toBe(0);
  });

  it('starts again when the first tag could not be created', async () => {
    await expect(run({ firstTag: "'" })).rejects.toThrow();
    await run({ firstTag: 'first' });
    expect(await tags()).toHaveLength(1);
    expect([locks, created]).toEqual([2, 2]);
  });

  it('completes the tables when a later migration is pending', async () => {
    await run();
    await database.query('DELETE FROM leaf_migrations WHERE timestamp = (SELECT MAX(timestamp) FROM leaf_migrations)');
    await run({ firstTag: 'first' });
    expect(await tags()).toStrictEqual([]);
    expect([locks, created]).toEqual([2, 1]);
  });

  it('leaves the schema to the server that changes it', async () => {
    alone = () => Promise.reject(locked());
    await expect(run()).rejects.toBeInstanceOf(MigrationsLocked);
    alone = sqlite.schema.alone;
    await run();
    expect(await tags()).toStrictEqual([]);
  });

  it('returns its connection, also after a failure', async () => {
    const runner = database.createQueryRunner();
    const release = jest.spyOn(runner, 'release');
    jest.spyOn(database, 'createQueryRunner').mockReturnValue(runner);
    alone = () => Promise.reject(locked());
    await expect(run()).rejects.toThrow();
    expect(release).toHaveBeenCalledTimes(1);
    alone = sqlite.schema.alone;
    await run();
    expect(release).toHaveBeenCalledTimes(2);
  });

  it('undoes a transaction that fails, and tells its first error', async () => {
    const runner = database.createQueryRunner();
    await inTransaction(runner, async () => {
      await runner.query('CREATE TABLE kept (id)');
    });
    const failing = inTransaction(runner, async () => {
      await runner.query('CREATE TABLE undone (id)');
      throw new Error('the first error');
    });
    await expect(failing).rejects.toThrow('the first error');
    const names = "SELECT name FROM sqlite_master WHERE name IN ('kept', 'undone')";
    expect(await runner.query(names)).toEqual([{ name: 'kept' }]);
    const ended = inTransaction(runner, async () => {
      await runner.query('ROLLBACK');
      throw new Error('the connection is lost');
    });
    await expect(ended).rejects.toThrow('the connection is lost');
  });

  it.each([
    ['another server is changing the schema', undefined],
    ['another server is changing the schema: timeout', new Error('timeout')],
  ])('says that %s', (message, cause) => {
    expect(locked(cause)).toMatchObject({ message, cause });
  });
});
