import type { DataSourceOptions } from 'typeorm';
import { migrations } from '@leaf-ids/migrations';
import type { ConnectionLimits } from '../connections/connection-limits';
import type { CommonOptions } from '../dialects/dialect';
import { DIALECTS } from '../dialects/dialects';
import { MIGRATIONS_TABLE } from '../schema/migrate';
import type { DatabaseTarget } from './database-url';
import { sharedOptions } from './shared-database';

/** The TypeORM options for a database. */
export async function dataSourceOptions(target: DatabaseTarget, limits: ConnectionLimits): Promise<DataSourceOptions> {
  // The logger `debug` is silent; the others print slow statements even with `logging: false`.
  const common: CommonOptions = {
    migrations,
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all',
    logging: false,
    logger: 'debug',
  };
  if ('shared' in target) return sharedOptions(target, common, limits);
  return DIALECTS[target.dialect].driver.options(target, common, limits);
}
