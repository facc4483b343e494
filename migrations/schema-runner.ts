import type { DataSourceOptions, QueryRunner } from 'typeorm';

/** What a migration uses of a QueryRunner: enough to write its statements down in place of sending them. */
export interface SchemaRunner {
  readonly dataSource: { readonly options: Pick<DataSourceOptions, 'type'> };
  query(sql: string): Promise<unknown>;
  hasColumn(table: string, column: string): ReturnType<QueryRunner['hasColumn']>;
}
