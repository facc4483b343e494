import { Injectable } from '@nestjs/common';
import {
  type BeforeQueryEvent,
  DataSource,
  type EntityMetadata,
  type EntitySubscriberInterface,
  type InsertEvent,
} from 'typeorm';
import { IdService } from '@leaf/core';
import { transformForeignKeys } from './foreign-keys';
import { type GeneratedKey, generatedKeys } from './generated-key';
import { KeyBatch, type Row } from './key-batch';
import { keepSubscribers } from './subscription';

/**
 * Fills the keys of `@LeafId()` and `@SnowflakeId()` before rows of its data source are inserted, by whatever way: `save`,
 * `insert`, a query builder, a cascade. All IDs that an insert needs for one key are taken at once. The data source may be
 * initialized before or after, and again.
 *
 * An insert fails with a `LeafError` when its keys cannot be had. Keys of an insert that is rolled back are gaps.
 */
@Injectable()
export class LeafIdSubscriber implements EntitySubscriberInterface<Row> {
  private readonly keys = new WeakMap<EntityMetadata, readonly GeneratedKey[]>();
  private readonly batches = new Map<GeneratedKey, KeyBatch>();
  /** Those whose foreign keys are transformed; `initialize()` makes new ones. */
  private entities: readonly EntityMetadata[] | undefined;

  constructor(
    dataSource: DataSource,
    private readonly ids: IdService,
  ) {
    dataSource.subscribers.push(this);
    keepSubscribers(dataSource, (subscriber) => subscriber instanceof LeafIdSubscriber);
  }

  // Not async: an insert of rows without such keys has nothing to wait for.
  beforeInsert({ entity, metadata }: InsertEvent<Row>): Promise<unknown> | undefined {
    let filled: Promise<unknown> | undefined;
    for (const key of this.keysOf(metadata)) {
      if (isSet(entity[key.property])) continue;
      const batch = this.batchOf(key);
      batch.add(entity);
      filled = filled === undefined ? batch.filled : Promise.all([filled, batch.filled]);
    }
    return filled;
  }

  beforeQuery({ dataSource: { entityMetadatas } }: BeforeQueryEvent): void {
    if (this.entities === entityMetadatas) return;
    transformForeignKeys(entityMetadatas);
    this.entities = entityMetadatas;
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

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
