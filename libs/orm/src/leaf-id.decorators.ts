import { PrimaryColumn } from 'typeorm';
import { assertTag } from '@leaf-ids/core/internal';
import { addGeneratedKey, keyTypeOf } from './key-batch';
import { IdTransformer, type KeyForm } from './id-transformer';

export interface GeneratedKeyOptions {
  /** Name of the column; by default that of the property. */
  readonly name?: string;
  /**
   * Type of the property, needed if the compiler does not emit decorator metadata; or a format, whose texts the property
   * then contains: `as: new PrefixedFormat('ord', …)`.
   */
  readonly as?: KeyForm;
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
    const transformer = new IdTransformer(as ?? keyTypeOf(prototype, property));
    addGeneratedKey(prototype.constructor, { property, transformer, tag });
    // Without `update: false`, an upsert of an existing row would overwrite its key.
    PrimaryColumn({ ...column, type: 'bigint', update: false, transformer })(prototype, name);
  };
}
