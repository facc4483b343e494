import { type DynamicModule, Module } from '@nestjs/common';
import { databasesOf } from '@leaf-ids/persistence';
import type { DataSource } from 'typeorm';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  type IdModuleExtras,
  type IdModuleOptions,
  MODULE_OPTIONS_TOKEN,
  type NamedDataSource,
} from './id.module-definition';
import { leafModule } from './leaf.module';
import { type LeafOptions, RuntimeOptions } from '../options/leaf-options';

/**
 * `IdService` in this process, with segment mode, snowflake mode or both. It runs the same background jobs and graceful
 * shutdown as a Leaf server. Several instances in different modules are independent.
 *
 * @example IdModule.forRoot({ database: 'mysql://…', tags: ['order'], snowflake: { registry: 'mysql' } })
 */
@Module({})
export class IdModule extends ConfigurableModuleClass {
  /**
   * Issues IDs by these options.
   *
   * @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults of the options
   */
  static override forRoot(options: IdModuleOptions & IdModuleExtras): DynamicModule {
    const { database, isGlobal = false, databases = namesOf(options), ...others } = options;
    if (isNamed(database)) {
      return this.forRootAsync({
        isGlobal,
        inject: [database.dataSource],
        useFactory: (dataSource: DataSource) => ({ ...others, database: { dataSource } }),
      });
    }
    const given = { ...others, ...(database !== undefined && { database }) };
    // Nest 10 cannot serialize a value with a bigint, such as the maxId of a tag.
    return this.forRootAsync({ isGlobal, databases, useFactory: () => given });
  }

  /** The same, with options from a factory, which can inject providers. */
  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return assemble(super.forRootAsync(options), options.databases);
  }
}

function namesOf({ segment }: IdModuleOptions): string[] {
  return databasesOf(segment === false ? undefined : segment?.database);
}

/** An open data source is an object; a token is not. */
function isNamed(database: unknown): database is NamedDataSource {
  if (typeof database !== 'object' || database === null || !('dataSource' in database)) return false;
  return ['string', 'symbol', 'function'].includes(typeof database.dataSource);
}

function assemble(base: DynamicModule, databases: readonly string[] | undefined): DynamicModule {
  const checked = (options: LeafOptions): RuntimeOptions => RuntimeOptions.of('IdModule', options);
  return leafModule(base, MODULE_OPTIONS_TOKEN, checked, databases);
}
