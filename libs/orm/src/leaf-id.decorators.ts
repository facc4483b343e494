import { PrimaryColumn } from 'typeorm';
import { assertTag } from '@leaf-ids/core/internal';
import { addGeneratedKey, type KeyType, keyTypeOf } from './generated-key';
import { idTransformer } from './id-transformer';

export interface GeneratedKeyOptions {
  /** Name of the column; by default that of the property. */
  readonly name?: string;
  /** Type of the property, needed if the compiler does not emit decorator metadata. */
  readonly as?: KeyType;
}

/**
 * A bigint primary key. An insert sets it to a segment ID of `tag`, unless it has a value. Replaces `@PrimaryColumn()`,
 * and requires a {@link LeafIdSubscriber} on the data source.
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
    // Without `update: false`, an upsert of an existing row would overwrite its key.
    PrimaryColumn({ ...column, type: 'bigint', update: false, transformer: idTransformer(type) })(prototype, name);
  };
}
