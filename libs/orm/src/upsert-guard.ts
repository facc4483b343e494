import type { DataSource, EntityMetadata, QueryRunner } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { GeneratedKey, Row } from './key-batch';

/**
 * How an INSERT of TypeORM treats existing rows. It parses the SQL, because a subscriber receives only the text of a
 * statement.
 */
class InsertStatement {
  /** The statement from the conflict clause on. */
  private readonly clause: string;
  private readonly ignores: boolean;
  private readonly returned: string;

  constructor(private readonly sql: string) {
    const conflict = Math.max(sql.lastIndexOf(' ON CONFLICT'), sql.lastIndexOf(' ON DUPLICATE KEY UPDATE '));
    const returning = sql.lastIndexOf(' RETURNING ');
    this.clause = conflict < 0 ? '' : sql.slice(conflict);
    this.ignores = /\bINSERT +IGNORE +INTO /.test(sql.slice(0, sql.indexOf(' INTO ') + ' INTO '.length));
    this.returned = returning < 0 ? '' : sql.slice(returning);
  }

  /** @param table escaped name */
  isInto(table: string): boolean {
    return this.sql.includes(`INSERT INTO ${table}`) || this.sql.includes(` IGNORE INTO ${table}`);
  }

  /** Whether the statement succeeds when a row exists already. */
  get toleratesConflicts(): boolean {
    return this.ignores || this.clause !== '';
  }

  /** Whether it may write or return fewer rows than it contains. */
  get skipsRows(): boolean {
    return this.ignores || / DO NOTHING\b/.test(this.clause) || / DO UPDATE SET .* WHERE /s.test(this.clause);
  }

  /** Whether it has the clause of MySQL, which applies to a conflict on any unique index. */
  get countsAnyConflict(): boolean {
    return this.clause.startsWith(' ON DUPLICATE KEY UPDATE ');
  }

  /** Whether rows conflict only if they are equal in the column. */
  conflictsOn(column: string): boolean {
    return /^ ON CONFLICT \(([^)]*)\)/.exec(this.clause)?.[1]?.includes(column) ?? false;
  }

  overwrites(column: string): boolean {
    return [`${column} = EXCLUDED.${column}`, `${column} = VALUES(${column})`].some((set) => this.clause.includes(set));
  }

  returns(column: string): boolean {
    return this.returned.includes(column) || this.returned.trim() === 'RETURNING *';
  }
}

type Column = EntityMetadata['columns'][number];
type Driver = DataSource['driver'];

interface PendingKey {
  readonly key: GeneratedKey;
  /** The rows whose key Leaf generates. */
  readonly filled: Row[];
}

/** The rows of the next INSERT into the table of one entity. */
class PendingInsert {
  rows = 0;
  readonly keys: readonly PendingKey[];

  constructor(
    readonly queryRunner: QueryRunner,
    readonly entity: EntityMetadata,
    keys: readonly GeneratedKey[],
  ) {
    this.keys = keys.map((key) => ({ key, filled: [] }));
  }
}

/**
 * Ensures that an upsert, or an insert that ignores conflicts, never changes the key of an existing row, and never
 * leaves a key in an entity that is not the stored one.
 *
 * TypeORM passes the rows of a statement and its text to a subscriber in separate calls on the same connection.
 * Therefore the rows are kept as pending until the statement follows.
 */
export class UpsertGuard {
  private readonly pending = new WeakMap<QueryRunner, Map<EntityMetadata, PendingInsert>>();
  /** The insert of the previous row; the next row usually belongs to it as well. */
  private latest: PendingInsert | undefined;

  /** TypeORM 1 renamed the property of a query runner that refers to its data source, so that is passed here. */
  constructor(private readonly dataSource: DataSource) {}

  /** The pending insert into the table of `entity`. */
  pendingOf(queryRunner: QueryRunner, entity: EntityMetadata, keys: readonly GeneratedKey[]): PendingInsert {
    if (this.latest?.queryRunner === queryRunner && this.latest.entity === entity) return this.latest;
    const inserts = this.pending.get(queryRunner) ?? new Map<EntityMetadata, PendingInsert>();
    const insert = inserts.get(entity) ?? new PendingInsert(queryRunner, entity, keys);
    this.pending.set(queryRunner, inserts.set(entity, insert));
    this.latest = insert;
    return insert;
  }

  /**
   * Checks a statement before it is sent.
   *
   * @throws LeafError `LEAF_REQUEST_INVALID`
   */
  check(queryRunner: QueryRunner, sql: string): void {
    const inserts = this.pending.get(queryRunner);
    if (inserts === undefined || inserts.size === 0) return;
    const { driver } = this.dataSource;
    const statement = new InsertStatement(sql);
    for (const [entity, insert] of inserts) {
      if (!statement.isInto(tableOf(driver, entity))) continue;
      inserts.delete(entity);
      this.latest = undefined;
      if (!statement.toleratesConflicts) continue;
      // The statement already contains the keys. TypeORM sets the returned keys; without RETURNING, they are unknown.
      for (const { key, filled } of insert.keys) for (const row of filled) row[key.property] = undefined;
      assertKeysKept(insert, statement, driver);
      assertNothingReadBack(insert, driver);
    }
  }
}

function assertKeysKept({ entity, keys, rows }: PendingInsert, statement: InsertStatement, driver: Driver): void {
  for (const { key } of keys) {
    const column = entity.findColumnWithPropertyName(key.property);
    if (column === undefined) continue;
    const name = driver.escape(column.databaseName);
    const where = `${entity.name}.${key.property}`;
    if (statement.overwrites(name) && !conflictsAreEqual(statement, name, column)) {
      throw refused(
        `This upsert would change ${where} of an existing row. Exclude the key from the columns that orUpdate() overwrites. On MySQL and MariaDB, a conflict on any unique index counts: set conflictPaths to the other unique columns instead of the key.`,
      );
    }
    if (rows > 1 && statement.skipsRows && statement.returns(name)) {
      throw refused(
        `This insert returns ${where} and may skip rows, so TypeORM would assign keys to the wrong entities. Insert one row at a time, or return no columns.`,
      );
    }
  }
}

/** Whether every conflicting row already has the key that the statement would write. */
function conflictsAreEqual(statement: InsertStatement, name: string, key: Column): boolean {
  if (!statement.countsAnyConflict) return statement.conflictsOn(name);
  const { uniques, indices } = key.entityMetadata;
  const unique = [...uniques, ...indices.filter(({ isUnique }) => isUnique)];
  return unique.every(({ columns }) => columns.includes(key));
}

/** TypeORM uses the key of each entity to read columns that the database generates, such as a date. */
function assertNothingReadBack({ entity, keys }: PendingInsert, driver: Driver): void {
  const [column] = entity.getInsertionReturningColumns();
  const unknown = keys.find(({ filled }) => filled.length > 0);
  if (unknown === undefined || column === undefined || driver.isReturningSqlSupported('insert')) return;
  throw refused(
    `This upsert leaves ${entity.name}.${unknown.key.property} unknown, because existing rows keep their keys, but TypeORM needs it to read ${entity.name}.${column.propertyName} afterwards. Find the rows first and save() them; or set the keys and do not use the entities afterwards. On MariaDB, you can use a data source of type 'mariadb', which supports RETURNING.`,
  );
}

function refused(message: string): LeafError {
  return new LeafError('LEAF_REQUEST_INVALID', message);
}

function tableOf(driver: Driver, { tablePath }: EntityMetadata): string {
  const escaped = tablePath.split('.').map((part) => (part === '' ? part : driver.escape(part)));
  return escaped.join('.');
}
