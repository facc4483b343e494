import type { EntityMetadata, QueryRunner } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { GeneratedKey } from './generated-key';
import { InsertStatement } from './insert-statement';
import type { Row } from './key-batch';

type Column = EntityMetadata['columns'][number];

interface PendingKey {
  readonly key: GeneratedKey;
  /** The rows whose key Leaf fills. */
  readonly filled: Row[];
}

/** The rows of one entity that are about to be inserted. */
export class PendingInsert {
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
 * Sees to it that an upsert, or an insert that ignores conflicts, gives no stored row another key, and no entity a key that
 * is not stored: a row that is there already keeps its key.
 *
 * TypeORM tells subscribers the rows of a statement and, later, its text, on the same connection: hence what is pending.
 */
export class UpsertGuard {
  private readonly pending = new WeakMap<QueryRunner, Map<EntityMetadata, PendingInsert>>();
  /** That of the row before: the next one mostly belongs to it, too. */
  private latest: PendingInsert | undefined;

  /** The insert that is sent next into the table of `entity`. */
  pendingOf(queryRunner: QueryRunner, entity: EntityMetadata, keys: readonly GeneratedKey[]): PendingInsert {
    if (this.latest?.queryRunner === queryRunner && this.latest.entity === entity) return this.latest;
    const inserts = this.pending.get(queryRunner) ?? new Map<EntityMetadata, PendingInsert>();
    const insert = inserts.get(entity) ?? new PendingInsert(queryRunner, entity, keys);
    this.pending.set(queryRunner, inserts.set(entity, insert));
    this.latest = insert;
    return insert;
  }

  /**
   * Looks at a statement before it is sent.
   *
   * @throws LeafError `LEAF_REQUEST_INVALID`
   */
  check(queryRunner: QueryRunner, sql: string): void {
    const inserts = this.pending.get(queryRunner);
    if (inserts === undefined || inserts.size === 0) return;
    const statement = new InsertStatement(sql);
    for (const [entity, insert] of inserts) {
      if (!statement.isInto(tableOf(queryRunner, entity))) continue;
      inserts.delete(entity);
      this.latest = undefined;
      if (!statement.toleratesConflicts) continue;
      // The keys are in the statement by now; what it returns is put in their place. Else they are not known.
      for (const { key, filled } of insert.keys) for (const row of filled) row[key.property] = undefined;
      assertKeysKept(insert, statement, queryRunner);
      assertNothingReadBack(insert, queryRunner);
    }
  }
}

function assertKeysKept({ entity, keys, rows }: PendingInsert, statement: InsertStatement, runner: QueryRunner): void {
  for (const { key } of keys) {
    const column = entity.findColumnWithPropertyName(key.property);
    if (column === undefined) continue;
    const name = runner.dataSource.driver.escape(column.databaseName);
    const where = `${entity.name}.${key.property}`;
    if (statement.overwrites(name) && !conflictsAreEqual(statement, name, column)) {
      throw refused(
        `This upsert would give a stored row another ${where}. Leave the key out of the columns that orUpdate() overwrites. MySQL and MariaDB count a conflict of any unique index: name the other unique columns in conflictPaths there, in place of the key.`,
      );
    }
    if (rows > 1 && statement.skipsRows && statement.returns(name)) {
      throw refused(
        `This insert returns ${where}, and may skip rows: TypeORM would put keys into the wrong entities. Insert one row at a time, or return nothing.`,
      );
    }
  }
}

/** Whether every row that conflicts has the key that it would be given. */
function conflictsAreEqual(statement: InsertStatement, name: string, key: Column): boolean {
  if (!statement.countsAnyConflict) return statement.conflictsOn(name);
  const { uniques, indices } = key.entityMetadata;
  const unique = [...uniques, ...indices.filter(({ isUnique }) => isUnique)];
  return unique.every(({ columns }) => columns.includes(key));
}

/** TypeORM reads what the database fills, a date say, by the key that it has for each row. */
function assertNothingReadBack({ entity, keys }: PendingInsert, { dataSource: { driver } }: QueryRunner): void {
  const [column] = entity.getInsertionReturningColumns();
  const unknown = keys.find(({ filled }) => filled.length > 0);
  if (unknown === undefined || column === undefined || driver.isReturningSqlSupported('insert')) return;
  throw refused(
    `This upsert leaves ${entity.name}.${unknown.key.property} unknown, since a row that is there already keeps its key, and TypeORM reads ${entity.name}.${column.propertyName} by it afterwards. Look for the rows first, and save() them; or set the keys, and do not use the entities afterwards. On MariaDB the data source may have type: 'mariadb', which returns what it writes.`,
  );
}

function refused(message: string): LeafError {
  return new LeafError('LEAF_REQUEST_INVALID', message);
}

function tableOf({ dataSource: { driver } }: QueryRunner, { tablePath }: EntityMetadata): string {
  const escaped = tablePath.split('.').map((part) => (part === '' ? part : driver.escape(part)));
  return escaped.join('.');
}
