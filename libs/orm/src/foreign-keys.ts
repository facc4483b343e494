import type { EntityMetadata } from 'typeorm';
import { IdTransformer } from './id-transformer';

/**
 * Applies the transformer of a key to the foreign keys that refer to it. TypeORM sets no transformer on the columns
 * that it generates for relations, junction tables and closure tables. It would then compare a key with the raw value
 * of the driver, for example a bigint with a string, and find no children in a tree.
 *
 * Columns that the entity declares itself stay unchanged.
 */
export function transformForeignKeys(entities: readonly EntityMetadata[]): void {
  for (const column of entities.flatMap(({ columns }) => columns)) {
    const transformer = column.referencedColumn?.transformer;
    if (column.isVirtual && transformer instanceof IdTransformer) column.transformer ??= transformer;
  }
}
