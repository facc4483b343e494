import { DataSource, type DataSourceOptions } from 'typeorm';
import { type Clock, type ReleaserReport, Releasers, settledBefore } from '@leaf/core';
import type { ConnectionLimits } from './data-source-options';
import type { DatabaseTarget } from './database-url';
import { SqlDatabase } from './sql-database';

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
  ) {
    super(options);
    this.access = new SqlDatabase(this, target.description, clock, {
      limitMs: limits.queryMs,
      serial: target.dialect === 'sqlite',
      multipleStatements: target.dialect === 'mysql',
    });
    this.users = new Releasers(clock, report);
  }

  override async destroy(): Promise<void> {
    await this.users.releaseAll();
    if (!this.isInitialized) return;
    const { closeMs } = this.limits;
    const inTime = await settledBefore(super.destroy(), this.clock.monotonic() + closeMs, this.clock);
    if (!inTime) this.report('close the database', `not done after ${closeMs} ms, going on`);
  }
}
