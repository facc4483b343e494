import type { DataSource, DataSourceOptions } from 'typeorm';
import type { SegmentStore } from '@leaf-ids/core';
import type { ConnectionLimits } from '../connections/connection-limits';
import type { SessionDialect } from '../connections/session-dialect';
import type { SqlDatabase } from '../connections/sql-database';
import type { FailoverOptions } from '../failover/failover-guard';
import type { SchemaDialect } from '../schema/schema-dialect';
import type { TagDialect } from '../stores/tag-dialect';
import type { WorkerDialect } from '../stores/worker-dialect';
import type { UrlParameters } from './url-parameters';

/** A database file. */
export interface FileAddress {
  /** Absolute path. */
  readonly file: string;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

export interface HostAddress {
  readonly host: string;
  readonly port: number;
}

/** A database server. */
export interface ServerAddress extends UrlParameters, HostAddress {
  /** Where the server may be, {@link host} first; several where any of them may be the primary. */
  readonly hosts: readonly HostAddress[];
  readonly username: string;
  /** Empty where a file or a command has it. */
  readonly password: string;
  readonly database: string;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

export type Address = FileAddress | ServerAddress;

/** What every data source of Leaf has in common. */
export type CommonOptions = Pick<
  DataSourceOptions,
  'migrations' | 'migrationsTableName' | 'migrationsTransactionMode' | 'logging' | 'logger'
>;

/** What goes before the options of an application's data source. */
export type OwnOptions = CommonOptions & Pick<DataSourceOptions, 'entities' | 'subscribers' | 'poolSize'>;

type Awaitable<T> = T | Promise<T>;

/** How TypeORM is told to connect. */
export interface DriverDialect<A extends Address> {
  /** @throws LeafError `LEAF_CONFIG_INVALID` for a missing package or file */
  options(address: A, common: CommonOptions, limits: ConnectionLimits): Awaitable<DataSourceOptions>;
  /** The types of data sources of an application that Leaf can connect like; none where there is one writer. */
  readonly lends: readonly DataSourceOptions['type'][];
  /** The options of one of {@link lends}, with `own` in place of what is the application's alone. */
  lent(options: DataSourceOptions, own: OwnOptions, limits: ConnectionLimits): Awaitable<DataSourceOptions>;
  /**
   * Before the first connection.
   *
   * @throws LeafError `LEAF_DATA_DIR_UNUSABLE`; what the file system throws
   */
  prepare?(address: A): Promise<void>;
  /** Once the schema is up to date. */
  opened?(dataSource: DataSource): Promise<void>;
  /** What to do about a database that cannot be opened. */
  advice(error: unknown, schema: string | undefined): string;
}

/** All that is specific to one kind of database. To add one, write a file with one of these and list it in `dialects.ts`. */
export interface Dialect<A extends Address = Address> {
  /** What its URLs begin with, before the colon. */
  readonly schemes: readonly string[];
  /** A URL, for errors. */
  readonly example: string;
  /** @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets */
  parse(url: string): A;
  readonly driver: DriverDialect<A>;
  readonly session: SessionDialect;
  readonly schema: SchemaDialect;
  segments(access: SqlDatabase, failover: FailoverOptions): SegmentStore;
  readonly tags: TagDialect;
  readonly workers: WorkerDialect;
}
