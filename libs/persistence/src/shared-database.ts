import type { DataSource } from 'typeorm';
import { type Clock, LeafError, messageOf, type RandomSource, retry } from '@leaf/core';
import { migrations } from '@leaf/migrations';
import { assertColumns } from './columns';
import { DEFAULT_LIMITS, MIGRATIONS_TABLE } from './data-source-options';
import type { DatabaseTarget } from './database-url';
import { migrate } from './migrate';
import { isNotUpYet, OPEN_RETRY } from './open-database';
import { assertSession } from './session';
import { SqlDatabase } from './sql-database';
import { assertTables } from './tables';

const DIALECTS: Readonly<Record<string, 'mysql' | 'postgres'>> = {
  mysql: 'mysql',
  mariadb: 'mysql',
  postgres: 'postgres',
};

/**
 * The data source of the application around: its connections are used, beside its transactions and never inside of one,
 * and it is left open.
 */
export class SharedDatabase {
  readonly target: Pick<DatabaseTarget, 'dialect' | 'description'>;
  readonly access: SqlDatabase;

  private opening: Promise<this> | undefined;

  /** @throws LeafError `LEAF_CONFIG_INVALID` when IDs cannot be kept unique on it */
  constructor(
    private readonly dataSource: DataSource,
    private readonly migrate: boolean,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {
    this.target = { dialect: dialectOf(dataSource), description: describe(dataSource) };
    const options = { limitMs: DEFAULT_LIMITS.queryMs, serial: false, multipleStatements: false };
    this.access = new SqlDatabase(dataSource, this.target.description, clock, options);
  }

  /**
   * Brings the schema up to date, once.
   *
   * @throws LeafError `LEAF_DATABASE_UNUSABLE`
   */
  open(): Promise<this> {
    this.opening ??= this.prepare();
    return this.opening;
  }

  /** Whoever opened it closes it. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private async prepare(): Promise<this> {
    try {
      const attempt = async (): Promise<void> => {
        await assertSession(this.dataSource, this.target);
        await assertColumns(this.dataSource, this.target, !this.migrate);
        if (this.migrate) await migrate(ofLeaf(this.dataSource), this.target, {});
        await assertTables(this.dataSource, this.target);
      };
      await retry(attempt, { ...OPEN_RETRY, isRetryable: isNotUpYet }, this.clock, this.random);
      return this;
    } catch (error) {
      this.opening = undefined;
      if (error instanceof LeafError && error.code === 'LEAF_DATABASE_UNUSABLE') throw error;
      throw new LeafError(
        'LEAF_DATABASE_UNUSABLE',
        `The tables of Leaf cannot be made in ${this.target.description}: ${messageOf(error)}. Let its user create tables, or set migrate: false and create them.`,
        { cause: error },
      );
    }
  }
}

/** The same connections with the migrations of Leaf, recorded in a table of their own, in place of the application's. */
function ofLeaf(dataSource: DataSource): DataSource {
  const options = {
    ...dataSource.options,
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
  };
  return Object.create(dataSource, {
    options: { value: options },
    migrations: { value: migrations.map((Migration) => new Migration()) },
  }) as DataSource;
}

function dialectOf({ options }: DataSource): 'mysql' | 'postgres' {
  const dialect = DIALECTS[options.type];
  if (dialect === undefined) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `Leaf does not share a data source of type ${options.type}. On SQLite it has one connection: an ID taken inside of a transaction that is rolled back would be given out again. Give Leaf a database of its own, for example database: 'sqlite:./data/leaf.sqlite'.`,
    );
  }
  if ('supportBigNumbers' in options && !(options.supportBigNumbers ?? true)) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'The data source has supportBigNumbers: false, with which IDs above 2^53 are rounded. Leave it out.',
    );
  }
  return dialect;
}

function describe({ options }: DataSource): string {
  return `${options.type} database ${String(options.database ?? '')} of the application`;
}
