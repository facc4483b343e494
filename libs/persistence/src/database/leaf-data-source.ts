import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Clock } from '@leaf-ids/core';
import { messageOf, withinDeadline, type ShutdownReport } from '@leaf-ids/core/internal';
import type { ConnectionLimits } from '../connections/connection-limits';
import { DIALECTS } from '../dialects/dialects';
import type { DatabaseTarget } from './database-url';
import { SqlDatabase, type SqlDatabaseOptions } from '../connections/sql-database';

/** The accepted weaknesses of the database, and their listener. */
export type Durability = Pick<SqlDatabaseOptions, 'accepted' | 'onAccepted'>;

/** A data source with time limits for statements and for closing. */
export class LeafDataSource extends DataSource {
  readonly access: SqlDatabase;
  /** Never rejects. */
  beforeDestroy: () => Promise<void> = () => Promise.resolve();

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
    this.access = new SqlDatabase(this, target.description, clock, {
      ...{ dialect: session, limitMs: limits.queryMs, statementMs: limits.queryMs, ...durability },
      schema: 'schema' in target ? target.schema : undefined,
      connections: session.isFile ? 1 : (options.poolSize ?? limits.connections),
    });
  }

  override async destroy(): Promise<void> {
    if (!this.isInitialized) return;
    await this.beforeDestroy();
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
