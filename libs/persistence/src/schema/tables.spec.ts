import { connect } from '../../../../test/support/contract/sql-stores';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { sqlite } from '../dialects/sqlite/sqlite';
import type { SchemaDialect } from './schema-dialect';
import { assertColumns, assertRights, assertTables, hasTable, holdsExactly } from './tables';

const NAME = 'the database';

let database: LeafDataSource;
beforeEach(async () => (database = await connect(parseDatabaseUrl('sqlite::memory:'))));
afterEach(() => database.destroy());

async function execute(...statements: string[]): Promise<void> {
  for (const sql of statements) await database.query(sql);
}
function unusable(message: string): unknown {
  return expect.objectContaining({ code: 'LEAF_DATABASE_UNUSABLE', message });
}

describe('assertRights', () => {
  const rights = { denied: ['SQLITE_ERROR'], user: "SELECT 'leaf' AS name" };
  const check = (given: SchemaDialect['rights'] = rights): Promise<void> =>
    assertRights(database, { ...sqlite.schema, rights: given }, NAME);

  /** A view, which SQLite changes only as its triggers allow. */
  async function allow(table: string, ...changes: string[]): Promise<void> {
    await execute(`ALTER TABLE ${table} RENAME TO hidden`, `CREATE VIEW ${table} AS SELECT * FROM hidden`);
    for (const change of changes) {
      await execute(`CREATE TRIGGER on_${change} INSTEAD OF ${change} ON ${table} BEGIN SELECT 1; END`);
    }
  }

  it.each([
    ['leaf_alloc', 'INSERT, UPDATE, DELETE'],
    ['leaf_deleted_tag', 'INSERT, UPDATE'],
    ['leaf_segment_server', 'INSERT, UPDATE'],
    ['leaf_registry', 'INSERT, UPDATE'],
  ])('names the privilege that the user lacks on %s, and the statement that grants it', async (table, needed) => {
    const changes = needed.split(', ');
    for (const [index, change] of changes.entries()) {
      await allow(table, ...changes.slice(0, index));
      await expect(check()).rejects.toEqual(
        unusable(
          `The user of the database lacks the privilege ${change} on the table ${table}. Run GRANT SELECT, ${needed} ON ${table} TO leaf.`,
        ),
      );
      await execute(`DROP VIEW ${table}`, `ALTER TABLE hidden RENAME TO ${table}`);
    }
    await allow(table, ...changes);
    await check();
    await execute(`DROP VIEW ${table}`);
    await expect(check()).rejects.toThrow(`lacks the privilege SELECT on the table ${table}. `);
  });

  it('names no user that the database does not tell', async () => {
    await allow('leaf_alloc');
    const nobody = { ...rights, user: "SELECT 'leaf' AS name WHERE 1 = 0" };
    await expect(check(nobody)).rejects.toThrow('ON leaf_alloc TO the user.');
  });

  it('leaves other errors to those who use the table', async () => {
    await execute('DROP TABLE leaf_registry');
    await check({ ...rights, denied: ['SQLITE_AUTH'] });
  });

  it('asks nothing of an engine without privileges', async () => {
    await execute('DROP TABLE leaf_alloc');
    await assertRights(database, sqlite.schema, NAME);
  });

  it('changes nothing', async () => {
    const tables = ['leaf_alloc', 'leaf_deleted_tag', 'leaf_segment_server', 'leaf_registry'];
    await execute(
      "INSERT INTO leaf_deleted_tag (biz_tag, max_id) VALUES ('gone', 5)",
      "INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, 'a', 10)",
      "INSERT INTO leaf_registry (name, document) VALUES ('workers', '{}')",
    );
    const rows = (): Promise<unknown[]> =>
      Promise.all(tables.map((table) => database.query<unknown[]>(`SELECT * FROM ${table}`)));
    const before = await rows();
    await check();
    expect(await rows()).toEqual(before);
    for (const found of before) expect(found).toHaveLength(1);
  });
});

describe('assertTables', () => {
  const unsafeTables = {
    query: (names: string): string =>
      `SELECT name, 'temporary' AS kind FROM sqlite_temp_master WHERE name IN (${names})`,
    remedy: (table: string): string => `CREATE TABLE main.${table}`,
  };
  const check = (): Promise<void> => assertTables(database, { ...sqlite.schema, unsafeTables }, NAME);

  it.each([
    ...['leaf_alloc', 'leaf_deleted_tag', 'leaf_segment_server', 'leaf_registry'],
    ...['leaf_workerid_alloc', 'leaf_worker_pool'],
    ...['leaf_number', 'leaf_number_journal', 'leaf_number_head'],
  ])('refuses %s if it could lose commits, with the remedy', async (table) => {
    await check();
    await execute(`CREATE TEMPORARY TABLE ${table} (id)`);
    await assertTables(database, sqlite.schema, NAME);
    await expect(check()).rejects.toEqual(
      unusable(
        `The table ${table} of the database is temporary: committed data can be lost, and IDs issued twice. Stop all servers, then run CREATE TABLE main.${table}.`,
      ),
    );
  });

  it('leaves the tables of others alone', async () => {
    await execute('CREATE TEMPORARY TABLE other (id)');
    await check();
  });
});

describe('assertColumns', () => {
  const check = (complete = true): Promise<void> => assertColumns(database, sqlite.schema, NAME, complete);
  const MANUAL = 'Nothing was changed. Create or change the column as described in docs/operations/database.md.';
  const rename = (table: string, column: string): Promise<void> =>
    execute(`ALTER TABLE ${table} RENAME COLUMN ${column} TO other`);

  it('accepts the tables of this version, and those that do not exist yet', async () => {
    await check();
    await execute('DROP TABLE leaf_alloc');
    await check();
  });

  it.each([
    ['leaf_alloc', 'bigint', 'max_id'],
    ['leaf_alloc', 'bigint', 'last_id'],
    ['leaf_alloc', 'bigint', 'period_start'],
    ['leaf_alloc', 'bigint', 'issue_limit'],
    ['leaf_alloc', 'bigint', 'next_id'],
    ['leaf_alloc', 'int', 'step'],
    ['leaf_alloc', 'int', 'max_step'],
    ['leaf_alloc', 'int', 'interleave_of'],
    ['leaf_alloc', 'int', 'interleave_remainder'],
    ['leaf_alloc', 'int', 'interleave_block'],
    ['leaf_alloc', 'int', 'reissue'],
    ['leaf_deleted_tag', 'bigint', 'max_id'],
    ['leaf_deleted_tag', 'bigint', 'issue_limit'],
    ['leaf_segment_server', 'bigint', 'generation'],
    ['leaf_workerid_alloc', 'bigint', 'max_timestamp'],
    ['leaf_worker_pool', 'bigint', 'max_timestamp'],
    ['leaf_number', 'bigint', 'number'],
    ['leaf_number', 'int', 'turn'],
    ['leaf_number', 'bigint', 'issued_at'],
    ['leaf_number', 'bigint', 'settled_at'],
    ['leaf_number_journal', 'bigint', 'position'],
    ['leaf_number_journal', 'bigint', 'number'],
    ['leaf_number_journal', 'int', 'turn'],
    ['leaf_number_journal', 'bigint', 'at_time'],
    ['leaf_number_head', 'bigint', 'next_number'],
    ['leaf_number_head', 'bigint', 'position'],
    ['leaf_number_head', 'bigint', 'issued_at'],
    ['leaf_number_head', 'bigint', 'epoch'],
  ])('refuses a column of %s that could round a %s: %s', async (table, width, column) => {
    await rename(table, column);
    await execute(`ALTER TABLE ${table} ADD COLUMN ${column} DOUBLE`);
    await expect(check(false)).rejects.toEqual(
      unusable(
        `The table ${table} of the database has the column ${column} of type double; it must be ${width}, or IDs could be duplicated. ${MANUAL}`,
      ),
    );
  });

  it.each([
    ['leaf_alloc', 'biz_tag'],
    ['leaf_workerid_alloc', 'ip_port'],
    ['leaf_worker_pool', 'ip_port'],
    ['leaf_worker_pool', 'lease_id'],
    ['leaf_registry', 'name'],
    ['leaf_registry', 'document'],
  ])('refuses %s without the column %s', async (table, column) => {
    await rename(table, column);
    await expect(check(false)).rejects.toEqual(
      unusable(`The table ${table} of the database has no column ${column}. ${MANUAL}`),
    );
  });

  it.each([
    ['leaf_alloc', 'ordering'],
    ['leaf_alloc', 'time_zone'],
    ['leaf_alloc', 'pattern'],
    ['leaf_alloc', 'next_id'],
    ['leaf_deleted_tag', 'issue_limit'],
    ['leaf_segment_server', 'generation'],
  ])('accepts %s without %s only if a migration adds it', async (table, column) => {
    await rename(table, column);
    await check(false);
    await expect(check()).rejects.toThrow(`has no column ${column}`);
  });

  it('names a column without a type', async () => {
    await rename('leaf_alloc', 'next_id');
    await execute('ALTER TABLE leaf_alloc ADD COLUMN next_id');
    await expect(check()).rejects.toThrow('has the column next_id of type any; it must be bigint');
  });

  it('leaves columns alone that only people read', async () => {
    await rename('leaf_alloc', 'description');
    await check();
  });
});

describe('hasTable', () => {
  it('tells the tables of the database', async () => {
    expect(await hasTable(database, sqlite.schema, 'leaf_alloc')).toBe(true);
    expect(await hasTable(database, sqlite.schema, 'leaf')).toBe(false);
  });
});

describe('holdsExactly', () => {
  it.each([
    ['tinyint', 'int', true],
    ['smallint', 'int', true],
    ['mediumint', 'int', true],
    ['int', 'int', true],
    ['integer', 'int', true],
    ['decimal', 'int', false],
    ['bigint', 'bigint', true],
    ['int', 'bigint', false],
    ['double', 'bigint', false],
  ] as const)('%s for %s: %s', (type, width, holds) => {
    expect(holdsExactly(type, width)).toBe(holds);
  });
});
