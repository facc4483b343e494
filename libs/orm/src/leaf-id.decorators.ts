import { PrimaryColumn } from 'typeorm';
import { assertTag } from '@leaf-ids/core';
import { addGeneratedKey, type KeyType, keyTypeOf } from './generated-key';
import { idTransformer } from './id-transformer';

export interface GeneratedKeyOptions {
  /** Of the column; that of the property by default. */
  readonly name?: string;
  /** The type of the property, where the compiler does not emit it. */
  readonly as?: KeyType;
}

/**
 * A bigint primary key that an insert fills with a segment ID of `tag`, unless it is set. In place of `@PrimaryColumn()`;
 * a {@link LeafIdSubscriber} of the data source does the filling.
 *
 * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_CONFIG_INVALID`
 * @example @LeafId('order') id!: string;
 */
export function LeafId(tag: string, options: GeneratedKeyOptions = {}): PropertyDecorator {
  assertTag(tag);
  return generatedKey(tag, options);
}

/**
 * As {@link LeafId}, with a snowflake ID.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function SnowflakeId(options: GeneratedKeyOptions = {}): PropertyDecorator {
  return generatedKey(undefined, options);
}

function generatedKey(tag: string | undefined, { as, ...column }: GeneratedKeyOptions): PropertyDecorator {
  return (prototype, name) => {
    const property = String(name);
    const type = as ?? keyTypeOf(prototype, property);
    addGeneratedKey(prototype.constructor, { property, type, tag });
    // A key is written once: without this, an upsert that finds its row puts the new key into the stored one.
    PrimaryColumn({ ...column, type: 'bigint', update: false, transformer: idTransformer(type) })(prototype, name);
  };
}
