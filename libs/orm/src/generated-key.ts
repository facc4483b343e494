import 'reflect-metadata';
import { LeafError } from '@leaf-ids/core';
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
