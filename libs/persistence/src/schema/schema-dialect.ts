import type { DataSourceOptions, QueryRunner } from 'typeorm';
import type { Width } from '../stores/table';

/** Finds tables without durable, transactional storage. */
interface UnsafeTables {
  /** Selects the tables whose content may not survive a crash, or ignores a rollback. */
  readonly query: (names: string) => string;
  /** The statement that fixes a table. */
  readonly remedy: (table: string) => string;
}

/** How one engine creates, changes and describes its tables. */
export interface SchemaDialect {
  /** The type by which migrations distinguish the engines. */
  readonly type: DataSourceOptions['type'];
  /**
   * Selects the columns of a table by its name; no rows when the table does not exist or is not visible to this user.
   */
  readonly columns: string;
  /** Whether a column of this type stores such numbers exactly. */
  readonly holds: (type: string, width: Width) => boolean;
  readonly createMigrationsTable: string;
  /** Whether schema changes are transactional. */
  readonly isTransactional: boolean;
  /**
   * Runs `work` while no other server changes the schema.
   *
   * @throws MigrationsLocked while another server changes it, or is the only one that may change it
   */
  readonly alone: (runner: QueryRunner, work: () => Promise<void>) => Promise<void>;
  /** Undefined when every table is safe. */
  readonly unsafeTables?: UnsafeTables;
  /** Undefined for an engine without privileges. */
  readonly rights?: {
    /** Error codes for a missing privilege. */
    readonly denied: readonly string[];
    /** Selects the user in the syntax of GRANT. */
    readonly user: string;
  };
}
