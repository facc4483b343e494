import type { EntityMetadata } from 'typeorm';
import { ALLOC, LeafAlloc, NEXT_ID } from './stored-tag';
import { added, BIGINT, type Columns, entityOf, INT, KEY, type ReadDialect, reading, TEXT } from './table';

/** The record of a deleted tag, or of what servers may have issued of a tag. */
export class LeafDeletedTag {
  readonly biz_tag!: string;
  /** Decimal: the first ID that is not allocated. */
  readonly max_id!: string;
  /** Decimal: no ID at or above it was issued. */
  readonly issue_limit!: string | null;
}

const DELETED: Columns = { biz_tag: KEY, max_id: BIGINT, issue_limit: added(BIGINT) };

/** Table → its columns. A column that rounds or truncates numbers would make ranges or leases overlap. */
export const TABLES: Readonly<Record<string, Columns>> = {
  leaf_alloc: { ...ALLOC, ...NEXT_ID },
  leaf_deleted_tag: DELETED,
  leaf_segment_server: { generation: added(BIGINT) },
  leaf_workerid_alloc: { ip_port: TEXT, max_timestamp: BIGINT },
  leaf_worker_pool: { id: INT, ip_port: TEXT, lease_id: TEXT, max_timestamp: BIGINT },
  leaf_registry: { name: KEY, document: TEXT },
  leaf_number: { number: BIGINT, turn: INT, issued_at: BIGINT, settled_at: BIGINT },
  leaf_number_journal: { position: BIGINT, number: BIGINT, turn: INT, at_time: BIGINT },
  leaf_number_head: { next_number: BIGINT, position: BIGINT, issued_at: BIGINT, epoch: BIGINT },
};

/** The tables of tags. The leases of workers have statements and connections of their own. */
export const ENTITIES = [
  entityOf(LeafAlloc, 'leaf_alloc', ALLOC),
  entityOf(LeafDeletedTag, 'leaf_deleted_tag', DELETED),
];

/**
 * Makes columns with numbers up to 2^63 - 1 virtual ones, with the expression of the engine. Entity schemas of TypeORM
 * 0.3.20 have no virtual columns.
 */
export function readExactly(entities: readonly EntityMetadata[], dialect: ReadDialect): void {
  for (const { tableName, columns } of entities) {
    for (const column of columns) {
      const sql = reading(column.propertyName, TABLES[tableName]?.[column.propertyName] ?? {}, dialect);
      if (sql !== undefined) Object.assign(column, { isVirtualProperty: true, query: () => sql });
    }
  }
}
