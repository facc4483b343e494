import { Injectable } from '@nestjs/common';
import { DataSource, type EntityMetadata, type EntitySubscriberInterface, type InsertEvent } from 'typeorm';
import { IdService } from '@leaf/core';
import { type GeneratedKey, generatedKeys } from './generated-key';
import { KeyBatch } from './key-batch';

type Row = Record<string, unknown>;

/**
 * Fills the keys of `@LeafId()` and `@SnowflakeId()` before rows of its data source are inserted, by whatever way: `save`,
 * `insert`, a query builder, a cascade. All keys of one tag that an insert needs are taken at once.
 *
 * An insert fails with a `LeafError` when its keys cannot be had. Keys of an insert that is rolled back are gaps.
 */
@Injectable()
export class LeafIdSubscriber implements EntitySubscriberInterface<Row> {
  private readonly keys = new WeakMap<EntityMetadata, readonly GeneratedKey[]>();
  private readonly batches = new Map<string | undefined, KeyBatch>();

  constructor(
    dataSource: DataSource,
    private readonly ids: IdService,
  ) {
    dataSource.subscribers.push(this);
  }

  // Not async: an insert of rows without such keys has nothing to wait for.
  beforeInsert({ entity, metadata }: InsertEvent<Row>): Promise<unknown> | undefined {
    const missing = this.keysOf(metadata).filter(({ property }) => (entity[property] ?? undefined) === undefined);
    const [first, ...others] = missing.map((key) => this.fill(entity, key));
    return others.length === 0 ? first : Promise.all([first, ...others]);
  }

  private fill(entity: Row, { property, type, tag }: GeneratedKey): Promise<void> {
    const batch = this.batchOf(tag);
    batch.add((id) => (entity[property] = type === 'bigint' ? id : String(id)));
    return batch.filled;
  }

  private batchOf(tag: string | undefined): KeyBatch {
    const open = this.batches.get(tag);
    if (open !== undefined) return open;
    const batch = new KeyBatch(this.ids, tag, () => this.batches.delete(tag));
    this.batches.set(tag, batch);
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
