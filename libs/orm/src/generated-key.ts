import 'reflect-metadata';
import { LeafError } from '@leaf-ids/core';

const METADATA = 'leaf:generated-keys';

/** How a key is held in memory; `number` is exact to 2^53 only. */
export type KeyType = 'string' | 'bigint';

/** A primary key that Leaf fills. */
export interface GeneratedKey {
  readonly property: string;
  readonly type: KeyType;
  /** Of the segment IDs; undefined for snowflake IDs. */
  readonly tag: string | undefined;
}

export function addGeneratedKey(entity: object, key: GeneratedKey): void {
  Reflect.defineMetadata(METADATA, [...generatedKeys(entity), key], entity);
}

/** Those of an entity class, and of the classes it extends. */
export function generatedKeys(entity: object): readonly GeneratedKey[] {
  return (Reflect.getMetadata(METADATA, entity) as readonly GeneratedKey[] | undefined) ?? [];
}

/** @throws LeafError `LEAF_CONFIG_INVALID` when the property is declared as something that cannot hold an ID */
export function keyTypeOf(prototype: object, property: string): KeyType {
  const declared: unknown = Reflect.getMetadata('design:type', prototype, property);
  if (declared === String) return 'string';
  if (declared === BigInt) return 'bigint';
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    `${prototype.constructor.name}.${property} has to be declared as string or bigint, in which a 64-bit ID fits. Where the compiler emits no decorator metadata, name the type: { as: 'bigint' }.`,
  );
}
