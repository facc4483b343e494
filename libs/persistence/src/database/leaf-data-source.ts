import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { type Clock, LeafError } from '@leaf-ids/core';
import { messageOf, withinDeadline, type ShutdownReport } from '@leaf-ids/core/internal';
import type { ConnectionLimits } from '../connections/connection-source';
import { SELECT, SqlDatabase, type SqlDatabaseOptions } from '../connections/sql-database';
import { DIALECTS } from '../dialects/dialects';
import { readExactly } from '../stores/entities';
import type { DatabaseTarget } from './database-url';

/** The accepted weaknesses of the database, and their listener. */
export type Durability = Pick<SqlDatabaseOptions, 'accepted' | 'onAccepted'>;

/** A data source with time limits for statements and for closing. */
export class LeafDataSource extends DataSource {
  readonly access: SqlDatabase;
  private isReadOnly = false;

  constructor(
    readonly target: DatabaseTarget,
    options: DataSourceOptions,
    private readonly limits: ConnectionLimits,
    private readonly clock: Clock,
    private readonly report: ShutdownReport,
    durability: Durability,
  ) {
    super(options);
    const { session } = DIALECTS[target.dialect];
    const own = { createQueryRunner: () => super.createQueryRunner() };
    this.access = new SqlDatabase(own, target.description, clock, {
      ...{ dialect: session, limitMs: limits.queryMs, statementMs: limits.queryMs, ...durability },
      schema: 'schema' in target ? target.schema : undefined,
      connections: session.isFile ? 1 : (options.poolSize ?? limits.connections),
    });
  }

  /**
   * From now on, only {@link access} changes data. An application that injects the data source shares its connections
   * with allocations, which a transaction left open there would undo.
   */
  makeReadOnly(): void {
    this.isReadOnly = true;
  }

  override createQueryRunner(...mode: Parameters<DataSource['createQueryRunner']>): QueryRunner {
    const runner = super.createQueryRunner(...mode);
    if (!this.isReadOnly) return runner;
    const refuse = (): Promise<never> => Promise.reject(readOnly());
    // Not the runner itself: SQLite has one for all, also for allocations.
    const reader = Object.create(runner) as QueryRunner;
    const query = (...given: Parameters<QueryRunner['query']>): Promise<unknown> =>
      isSelect(given[0]) ? runner.query.apply(reader, given) : refuse();
    return Object.assign(reader, {
      ...{ query, startTransaction: refuse, stream: refuse },
      manager: this.createEntityManager(reader),
    });
  }

  protected override async buildMetadatas(): Promise<void> {
    await super.buildMetadatas();
    readExactly(this.entityMetadatas, DIALECTS[this.target.dialect].tags);
  }

  override async destroy(): Promise<void> {
    if (!this.isInitialized) return;
    const { closeMs } = this.limits;
    try {
      const inTime = await withinDeadline(super.destroy(), this.clock.monotonic() + closeMs, this.clock);
      if (!inTime) this.report('close the database', `not finished after ${closeMs} ms; continuing`);
    } catch (error) {
      // A connection may break while it closes.
      this.report('close the database', messageOf(error));
    }
  }
}

/** The sessions of MySQL run several statements at once. */
function isSelect(sql: string): boolean {
  return SELECT.test(sql) && !sql.includes(';');
}

function readOnly(): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    'The data source of Leaf only reads: a change or a transaction on its connections could undo allocations. Change tags through TagStore, or use a data source of your own.',
  );
}
