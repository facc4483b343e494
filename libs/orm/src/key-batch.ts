import { type IdService, LeafError } from '@leaf-ids/core';
import 'reflect-metadata';
import { assignIds } from './assign-ids';
import type { IdTransformer, KeyType } from './id-transformer';

const METADATA = 'leaf:generated-keys';

/** A primary key that Leaf generates. */
export interface GeneratedKey {
  readonly property: string;
  readonly transformer: IdTransformer;
  /** The tag of the segment IDs; undefined for snowflake IDs. */
  readonly tag: string | undefined;
}

export function addGeneratedKey(entity: object, key: GeneratedKey): void {
  Reflect.defineMetadata(METADATA, [...generatedKeys(entity), key], entity);
}

/** The generated keys of an entity class and of its base classes. */
export function generatedKeys(entity: object): readonly GeneratedKey[] {
  return (Reflect.getMetadata(METADATA, entity) as readonly GeneratedKey[] | undefined) ?? [];
}

/** @throws LeafError `LEAF_CONFIG_INVALID` when the declared type of the property cannot hold an ID */
export function keyTypeOf(prototype: object, property: string): KeyType {
  const declared: unknown = Reflect.getMetadata('design:type', prototype, property);
  if (declared === String) return 'string';
  if (declared === BigInt) return 'bigint';
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    `${prototype.constructor.name}.${property} must be declared as string or bigint to hold a 64-bit ID. If the compiler emits no decorator metadata, specify the type: { as: 'bigint' }.`,
  );
}

export type Row = Record<string, unknown>;

/**
 * Collects the rows that need a key in one turn of the event loop, and fills them together: a bulk insert registers all
 * its rows before it awaits the first one.
 */
export class KeyBatch {
  /** Settles when every row has its ID. */
  readonly filled: Promise<void>;

  private readonly rows: Row[] = [];

  /** @param onClosed called at the end of the turn: the next row needs a new batch */
  constructor(ids: IdService, { property, transformer, tag }: GeneratedKey, onClosed: () => void) {
    this.filled = Promise.resolve().then(() => {
      onClosed();
      return assignIds(ids, tag, this.rows.length, (index, id) => {
        const row = this.rows[index];
        if (row !== undefined) row[property] = transformer.ofId(id);
      });
    });
  }

  add(row: Row): void {
    this.rows.push(row);
  }
}
