import { DataSource, type DataSourceOptions } from 'typeorm';
import { type Clock, messageOf, type ReleaserReport, Releasers, settledBefore } from '@leaf/core';
import type { ConnectionLimits } from '../connections/connection-limits';
import { DIALECTS } from '../dialects/dialects';
import type { DatabaseTarget } from './database-url';
import { SqlDatabase, type SqlDatabaseOptions } from '../connections/sql-database';

/** Which weaknesses of the database are accepted, and who is told. */
export type Durability = Pick<SqlDatabaseOptions, 'accepted' | 'onAccepted'>;

/**
 * The connection, which closes only after those who still want to write have done so: whoever uses it last adds a step
 * to `users`, and it does not matter which module of the application is shut down first.
 */
export class LeafDataSource extends DataSource {
  readonly users: Releasers;
  readonly access: SqlDatabase;

  constructor(
    readonly target: DatabaseTarget,
    options: DataSourceOptions,
    private readonly limits: ConnectionLimits,
    private readonly clock: Clock,
    private readonly report: ReleaserReport,
    durability: Durability,
  ) {
    super(options);
    const { session } = DIALECTS[target.dialect];
    this.access = new SqlDatabase(this, target.description, clock, {
      ...{ dialect: session, limitMs: limits.queryMs, statementMs: limits.queryMs, ...durability },
      schema: 'schema' in target ? target.schema : undefined,
      connections: session.isFile ? 1 : (options.poolSize ?? limits.connections),
    });
    this.users = new Releasers(clock, report);
  }

  override async destroy(): Promise<void> {
    await this.users.releaseAll();
    if (!this.isInitialized) return;
    const { closeMs } = this.limits;
    try {
      const inTime = await settledBefore(super.destroy(), this.clock.monotonic() + closeMs, this.clock);
      if (!inTime) this.report('close the database', `not done after ${closeMs} ms, going on`);
    } catch (error) {
      // A connection that is gone while it says goodbye.
      this.report('close the database', messageOf(error));
    }
  }
}
