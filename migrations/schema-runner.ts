import type { DataSourceOptions, QueryRunner } from 'typeorm';

/** The parts of a QueryRunner that migrations use; another implementation can record the statements. */
export interface SchemaRunner {
  /** The data source: TypeORM 0.3 has only this name for it. */
  readonly connection: { readonly options: Pick<DataSourceOptions, 'type'> };
  query(sql: string): Promise<unknown>;
  hasColumn(table: string, column: string): ReturnType<QueryRunner['hasColumn']>;
}
