import type {
  DataSource,
  EntityMetadata,
  EntitySubscriberInterface,
  InsertEvent,
  QueryRunner,
  TransactionCommitEvent,
  TransactionRollbackEvent,
  TransactionStartEvent,
} from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import { MAX_KEYS } from '@leaf-ids/core/internal';
import type { Row } from './key-batch';
import { type NumberedProperty, numberedProperties } from './leaf-number.decorator';
import { type LeafNumbers, outsideTransaction } from './leaf-numbers';
import { injectable, keepSubscribers } from './subscribers';

/** A row that gets its number at the commit. */
interface Pending {
  readonly row: Row;
  readonly metadata: EntityMetadata;
  readonly numbered: NumberedProperty;
  /** Of the savepoint in which it was inserted; 1 for the transaction itself. */
  depth: number;
}

interface Open {
  depth: number;
  pending: Pending[];
  /** Rows that have their numbers, until it is known that these are committed. */
  given: Pending[];
}

/**
 * Gives rows of `@LeafNumber()` their numbers right before the commit of their transaction, in that transaction: a
 * rollback takes number and row together, and other transactions wait for the commit alone.
 */
@injectable
export class LeafNumberSubscriber implements EntitySubscriberInterface<Row> {
  private readonly open = new WeakMap<QueryRunner, Open>();
  /** Rows whose numbers are perhaps not committed. */
  private readonly uncertain = new WeakMap<Row, Set<string>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly numbers: LeafNumbers,
  ) {
    dataSource.subscribers.push(this);
    keepSubscribers(dataSource, (subscriber) => subscriber instanceof LeafNumberSubscriber);
  }

  beforeInsert({ entity, metadata, queryRunner }: InsertEvent<Row>): void {
    const { target } = metadata;
    if (typeof target !== 'function') return;
    for (const numbered of numberedProperties(target)) {
      // A row that has a number is a copy or comes from elsewhere.
      if (this.isNumbered(entity, numbered.property)) continue;
      entity[numbered.property] = null;
      if (!queryRunner.isTransactionActive) throw outsideTransaction();
      const open = this.openOf(queryRunner);
      open.pending.push({ row: entity, metadata, numbered, depth: open.depth });
    }
  }

  afterTransactionStart({ queryRunner }: TransactionStartEvent): void {
    this.openOf(queryRunner).depth++;
  }

  async beforeTransactionCommit({ queryRunner, manager }: TransactionCommitEvent): Promise<void> {
    const open = this.openOf(queryRunner);
    if (open.depth > 1) return;
    for (const { tag, at, pending } of groupsOf(open.pending.splice(0))) {
      // A row may have been there before, or be gone again.
      const rows: [Pending, RowAddress][] = [];
      for (const each of pending) {
        const address = addressOf(this.dataSource, queryRunner, each);
        if (await address.isWithoutNumber()) rows.push([each, address]);
      }
      if (rows.length === 0) continue;
      const keys = rows.map(([{ numbered, row }]) => numbered.keyOf(row));
      const texts = await this.numbers.nextAll(manager, tag, keys, at);
      for (const [index, [each, address]] of rows.entries()) {
        open.given.push(each);
        this.mark(each);
        each.row[each.numbered.property] = texts[index];
        await address.setNumber(texts[index] ?? '');
      }
    }
  }

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    const open = this.openOf(queryRunner);
    open.depth--;
    if (open.depth === 0) {
      for (const { row } of open.given) this.uncertain.delete(row);
      this.open.delete(queryRunner);
    } else for (const pending of open.pending) pending.depth = Math.min(pending.depth, open.depth);
  }

  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    const open = this.openOf(queryRunner);
    open.pending = open.pending.filter(({ depth }) => depth < open.depth);
    open.depth--;
    if (open.depth > 0) return;
    for (const { row, numbered } of open.given) row[numbered.property] = null;
    this.open.delete(queryRunner);
  }

  private isNumbered(row: Row, property: string): boolean {
    const value = row[property];
    return value !== undefined && value !== null && value !== '' && this.uncertain.get(row)?.has(property) !== true;
  }

  private mark({ row, numbered: { property } }: Pending): void {
    this.uncertain.set(row, (this.uncertain.get(row) ?? new Set()).add(property));
  }

  private openOf(queryRunner: QueryRunner): Open {
    let open = this.open.get(queryRunner);
    if (open === undefined) this.open.set(queryRunner, (open = { depth: 0, pending: [], given: [] }));
    return open;
  }
}

interface Group {
  readonly tag: string;
  readonly at: Date | undefined;
  readonly pending: Pending[];
}

/** The column with the number of one row. */
interface RowAddress {
  isWithoutNumber(): Promise<boolean>;
  setNumber(text: string): Promise<void>;
}

/**
 * By statements of its own: an update of the entity would also change the columns for its version and its date.
 *
 * @throws LeafError `LEAF_REQUEST_INVALID` for a row without its key
 */
function addressOf({ driver }: DataSource, queryRunner: QueryRunner, { row, metadata, numbered }: Pending): RowAddress {
  const name = (text: string): string => driver.escape(text);
  const table = metadata.tablePath.split('.').map(name).join('.');
  const columns = metadata.primaryColumns;
  const keys = columns.map((column): unknown =>
    driver.preparePersistentValue(column.getEntityValue(row, true), column),
  );
  if (keys.some((key) => key === undefined || key === null)) throw withoutKey(metadata.name);
  const column = metadata.findColumnWithPropertyName(numbered.property)?.databaseName ?? numbered.property;
  const where = (offset: number): string =>
    columns
      .map(({ databaseName }, index) => `${name(databaseName)} = ${driver.createParameter('key', offset + index)}`)
      .join(' AND ');
  return {
    isWithoutNumber: async () => {
      const sql = `SELECT 1 AS found FROM ${table} WHERE ${where(0)} AND ${name(column)} IS NULL`;
      return ((await queryRunner.query(sql, keys)) as unknown[]).length > 0;
    },
    setNumber: async (text) => {
      const set = `${name(column)} = ${driver.createParameter('number', 0)}`;
      await queryRunner.query(`UPDATE ${table} SET ${set} WHERE ${where(1)}`, [text, ...keys]);
    },
  };
}

/**
 * Documents of one tag and one date get their numbers together, in the order in which they were inserted; the tags by
 * their names, so that two transactions do not wait for each other.
 */
function groupsOf(all: readonly Pending[]): Group[] {
  const groups: Group[] = [];
  for (const pending of all) {
    const { tag, dateOf } = pending.numbered;
    const at = dateOf(pending.row);
    const isOpen = (group: Group): boolean =>
      group.tag === tag && group.at?.getTime() === at?.getTime() && group.pending.length < MAX_KEYS;
    const open = groups.find(isOpen);
    if (open === undefined) groups.push({ tag, at, pending: [pending] });
    else open.pending.push(pending);
  }
  return groups.sort((one, other) => (one.tag < other.tag ? -1 : one.tag > other.tag ? 1 : 0));
}

function withoutKey(entity: string): LeafError {
  return new LeafError(
    'LEAF_REQUEST_INVALID',
    `A row of ${entity} was inserted without its primary key, so its number cannot be stored. Use save(), or set the key before the insert.`,
  );
}
