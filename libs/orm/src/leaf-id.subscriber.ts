import {
  type BeforeQueryEvent,
  DataSource,
  type EntityMetadata,
  type EntitySubscriberInterface,
  type InsertEvent,
  type QueryRunner,
} from 'typeorm';
import { IdService, LeafError } from '@leaf-ids/core';
import { type GeneratedKey, generatedKeys, KeyBatch, type Row } from './key-batch';
import { UpsertGuard } from './upsert-guard';
import { IdTransformer } from './id-transformer';
import { injectable, keepSubscribers } from './subscribers';

/**
 * Generates the keys of `@LeafId()` and `@SnowflakeId()` for every insert on its data source: by `save`, `insert`, a
 * query builder or a cascade. All IDs that an insert needs for one key are allocated at once. The data source may be
 * initialized before or after, and more than once.
 *
 * An insert rejects with a `LeafError` when no IDs are available. The keys of a rolled-back insert become gaps. An
 * upsert that would change a stored key rejects with `LEAF_REQUEST_INVALID`.
 */
@injectable
export class LeafIdSubscriber implements EntitySubscriberInterface<Row> {
  private readonly keys = new WeakMap<EntityMetadata, readonly GeneratedKey[]>();
  private readonly batches = new Map<GeneratedKey, KeyBatch>();
  private readonly upserts: UpsertGuard;
  /** Whether TypeORM calls {@link beforeQuery} for this driver. */
  private reported = false;
  private probe: Promise<void> | undefined;
  /** The entities whose foreign keys have a transformer; `initialize()` creates new ones. */
  private entities: readonly EntityMetadata[] | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: IdService,
  ) {
    this.upserts = new UpsertGuard(dataSource);
    dataSource.subscribers.push(this);
    keepSubscribers(dataSource, (subscriber) => subscriber instanceof LeafIdSubscriber);
  }

  // Not async, so that rows without generated keys add no promise.
  beforeInsert({ entity, metadata, queryRunner }: InsertEvent<Row>): Promise<unknown> | undefined {
    const keys = this.keysOf(metadata);
    if (keys.length === 0) return undefined;
    const placeholder = keys.find(({ property }) => isPlaceholder(entity[property]));
    if (placeholder !== undefined) return Promise.reject(placeholderFault(metadata.name, placeholder.property));
    const insert = this.upserts.pendingOf(queryRunner, metadata, keys);
    insert.rows++;
    let filled: Promise<unknown> | undefined;
    for (const { key, filled: rows } of insert.keys) {
      if (isSet(entity[key.property])) continue;
      rows.push(entity);
      const batch = this.batchOf(key);
      batch.add(entity);
      filled = filled === undefined ? batch.filled : Promise.all([filled, batch.filled]);
    }
    if (this.reported) return filled;
    this.probe ??= this.probeReports(queryRunner).finally(() => (this.probe = undefined));
    return Promise.all([filled, this.probe]);
  }

  /** TypeORM calls it before it sends a statement; an error rejects the statement. */
  beforeQuery({ queryRunner, query }: Pick<BeforeQueryEvent, 'queryRunner' | 'query'>): void {
    this.reported = true;
    const { entityMetadatas } = this.dataSource;
    if (this.entities !== entityMetadatas) {
      transformForeignKeys(entityMetadatas);
      this.entities = entityMetadatas;
    }
    this.upserts.check(queryRunner, query);
  }

  /** @throws LeafError `LEAF_CONFIG_INVALID` */
  private async probeReports(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SELECT 1');
    if (this.reported) return;
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `This version of TypeORM does not call beforeQuery() of subscribers for data sources of type '${this.dataSource.options.type}', so an upsert could change stored keys. For 'better-sqlite3', use TypeORM 0.3.21 or later.`,
    );
  }

  private batchOf(key: GeneratedKey): KeyBatch {
    const open = this.batches.get(key);
    if (open !== undefined) return open;
    const batch = new KeyBatch(this.ids, key, () => this.batches.delete(key));
    this.batches.set(key, batch);
    return batch;
  }

  private keysOf(metadata: EntityMetadata): readonly GeneratedKey[] {
    const known = this.keys.get(metadata);
    if (known !== undefined) return known;
    const { target } = metadata;
    const keys = typeof target === 'function' ? generatedKeys(target) : [];
    this.keys.set(metadata, keys);
    return keys;
  }
}

/** Whether a value is the default of a class, which as a key would be the same for every new row. */
function isPlaceholder(value: unknown): boolean {
  return value === '' || value === 0 || value === 0n || value === '0';
}

function placeholderFault(entity: string, property: string): LeafError {
  return new LeafError(
    'LEAF_REQUEST_INVALID',
    `The key ${entity}.${property} of a new row is 0 or empty. Leave it undefined, so that Leaf fills it: declare it without a default.`,
  );
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Applies the transformer of a key to the foreign keys that refer to it. TypeORM sets no transformer on the columns
 * that it generates for relations, junction tables and closure tables. It would then compare a key with the raw value
 * of the driver, for example a bigint with a string, and find no children in a tree.
 *
 * Columns that the entity declares itself stay unchanged.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` for a tree whose keys have a format
 */
function transformForeignKeys(entities: readonly EntityMetadata[]): void {
  for (const { name, treeType, primaryColumns, columns } of entities) {
    if (treeType !== undefined && primaryColumns.some(({ transformer }) => hasFormat(transformer))) {
      throw new LeafError(
        'LEAF_CONFIG_INVALID',
        `The key of the tree ${name} has a format. TypeORM writes the keys of trees without their transformers: declare the key as string or bigint.`,
      );
    }
    for (const column of columns) {
      const transformer = column.referencedColumn?.transformer;
      if (column.isVirtual && transformer instanceof IdTransformer) column.transformer ??= transformer;
    }
  }
}

function hasFormat(transformer: unknown): boolean {
  return transformer instanceof IdTransformer && typeof transformer.form === 'object';
}
