import type { DataSourceOptions, QueryRunner } from 'typeorm';

/** What a column has to hold. */
export type Width = 'any' | 'int' | 'bigint';

/** A query with the rows that a server must not have, and how to mend one. */
interface UnsafeTables {
  /** The tables whose content a crash or a rollback does not leave as it was committed. */
  readonly query: (names: string) => string;
  readonly remedy: (table: string) => string;
}

/** How one kind of database makes, changes and shows its tables. */
export interface SchemaDialect {
  /** By which migrations tell the engines apart. */
  readonly type: DataSourceOptions['type'];
  /** The columns of a table, by its name; none when there is no table, or none that this user may see. */
  readonly columns: string;
  /** Whether a column of this type holds such numbers exactly. */
  readonly holds: (type: string, width: Width) => boolean;
  readonly createMigrationsTable: string;
  /** Whether a transaction holds changes of the schema. */
  readonly isTransactional: boolean;
  /**
   * Carries out `work` while no other server changes the schema.
   *
   * @throws MigrationsLocked while another one does, or has to
   */
  readonly alone: (runner: QueryRunner, work: () => Promise<void>) => Promise<void>;
  /** Left out where every table is safe. */
  readonly unsafeTables?: UnsafeTables;
  /** Left out where there are no rights. */
  readonly rights?: {
    /** The code of an error that refuses a statement to this user. */
    readonly denied: readonly string[];
    /** The user as GRANT names it. */
    readonly user: string;
  };
}
