import type { EntityMetadata } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import { IdTransformer } from './id-transformer';

/**
 * Applies the transformer of a key to the foreign keys that refer to it. TypeORM sets no transformer on the columns
 * that it generates for relations, junction tables and closure tables. It would then compare a key with the raw value
 * of the driver, for example a bigint with a string, and find no children in a tree.
 *
 * Columns that the entity declares itself stay unchanged.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` for a tree whose keys have a format
 */
export function transformForeignKeys(entities: readonly EntityMetadata[]): void {
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
