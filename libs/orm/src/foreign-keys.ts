import type { EntityMetadata } from 'typeorm';
import { IdTransformer } from './id-transformer';

/**
 * Lets foreign keys be read and written as the keys that they refer to. TypeORM gives the columns that it makes for
 * relations, and for the tables of many-to-many relations and closures, no transformer, and then compares a key with
 * what the driver reads: a bigint with a string, a string with SQLite's number. Trees have no children then.
 *
 * A column that the entity declares itself is left as it is declared.
 */
export function transformForeignKeys(entities: readonly EntityMetadata[]): void {
  for (const column of entities.flatMap(({ columns }) => columns)) {
    const transformer = column.referencedColumn?.transformer;
    if (column.isVirtual && transformer instanceof IdTransformer) column.transformer ??= transformer;
  }
}
