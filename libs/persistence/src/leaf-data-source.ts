import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Releasers } from '@leaf/core';

/**
 * The connection, which closes only after those who still want to write have done so: whoever uses it last adds a step
 * to `users`, and it does not matter which module of the application is shut down first.
 */
export class LeafDataSource extends DataSource {
  constructor(
    options: DataSourceOptions,
    readonly users: Releasers,
  ) {
    super(options);
  }

  override async destroy(): Promise<void> {
    await this.users.releaseAll();
    if (this.isInitialized) await super.destroy();
  }
}
