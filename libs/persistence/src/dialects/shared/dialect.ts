import type { DataSource, DataSourceOptions } from 'typeorm';
import type { SegmentStore } from '@leaf-ids/core';
import type { ConnectionLimits } from '../../connections/connection-source';
import type { SessionDialect } from '../../connections/session';
import type { SqlDatabase } from '../../connections/sql-database';
import type { FailoverGuard, GuardDialect } from '../../failover/failover-guard';
import type { SchemaDialect } from '../../schema/schema-dialect';
import type { TagDialect } from '../../stores/tag-dialect';
import type { WorkerDialect } from '../../stores/worker-row';
import type { UrlParameters } from './url-parameters';

/** An SQLite database. */
export interface FileAddress {
  /** Absolute path; undefined for a database in memory. */
  readonly file: string | undefined;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

export interface HostAddress {
  readonly host: string;
  readonly port: number;
}

/** A database server. */
export interface ServerAddress extends UrlParameters, HostAddress {
  /** The hosts in the order of the URL, {@link host} first; any of them may be the primary. */
  readonly hosts: readonly HostAddress[];
  readonly username: string;
  /** Empty when a file or a command supplies it. */
  readonly password: string;
  readonly database: string;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

export type Address = FileAddress | ServerAddress;

/** The options that all data sources of Leaf share. */
export type CommonOptions = Pick<
  DataSourceOptions,
  'entities' | 'migrations' | 'migrationsTableName' | 'migrationsTransactionMode' | 'logging' | 'logger'
>;

/** The options that override those of an application's data source. */
export type OwnOptions = CommonOptions & Pick<DataSourceOptions, 'subscribers' | 'poolSize'>;

type Awaitable<T> = T | Promise<T>;

/** The TypeORM options to connect with. */
export interface DriverDialect<A extends Address> {
  /** @throws LeafError `LEAF_CONFIG_INVALID` for a missing package or file */
  options(address: A, common: CommonOptions, limits: ConnectionLimits): Awaitable<DataSourceOptions>;
  /** The types of application data sources that Leaf can share; none for an engine with a single writer. */
  readonly lends: readonly DataSourceOptions['type'][];
  /** The options of one of {@link lends}, overridden by `own`. */
  shared(options: DataSourceOptions, own: OwnOptions, limits: ConnectionLimits): Awaitable<DataSourceOptions>;
  /**
   * Runs before the first connection.
   *
   * @throws LeafError `LEAF_DATA_DIR_UNUSABLE`; or an error of the file system
   */
  prepare?(address: A): Promise<void>;
  /** Runs once the schema is up to date. */
  opened?(dataSource: DataSource): Promise<void>;
  /** The statement that creates a database on the server; none for an engine whose databases are files. */
  createDatabase?(name: string): string;
  /** The remedy for a database that cannot be opened, as a sentence. */
  advice(error: unknown, schema: string | undefined): string;
}

/** Everything that is specific to one engine. To add one, implement this interface and list it in `dialects.ts`. */
export interface Dialect<A extends Address = Address> {
  /** The schemes of its URLs. */
  readonly schemes: readonly string[];
  /** An example URL for error messages. */
  readonly example: string;
  /** @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets */
  parse(url: string): A;
  readonly driver: DriverDialect<A>;
  readonly session: SessionDialect;
  readonly schema: SchemaDialect;
  readonly guard: GuardDialect;
  segments(access: SqlDatabase, guard: FailoverGuard): SegmentStore;
  readonly tags: TagDialect;
  readonly workers: WorkerDialect;
}
