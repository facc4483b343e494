import { type DynamicModule, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  type IdModuleExtras,
  type IdModuleOptions,
  MODULE_OPTIONS_TOKEN,
  type NamedDataSource,
} from './id.module-definition';
import { leafModule } from './leaf.module';
import type { LeafOptions } from './leaf-options';

/**
 * `IdService` in this process, with segment mode, snowflake mode or both. It runs the same background jobs and graceful
 * shutdown as a Leaf server. Several instances in different modules are independent.
 *
 * @example IdModule.forRoot({ database: 'mysql://…', tags: ['order'], snowflake: { registry: 'mysql' } })
 */
@Module({})
export class IdModule extends ConfigurableModuleClass {
  static override forRoot(options: IdModuleOptions & IdModuleExtras): DynamicModule {
    const { database, isGlobal = false, ...others } = options;
    if (isNamed(database)) {
      return this.forRootAsync({
        isGlobal,
        inject: [database.dataSource],
        useFactory: (dataSource: DataSource) => ({ ...others, database: { dataSource } }),
      });
    }
    return assemble(super.forRoot({ ...others, isGlobal, ...(database !== undefined && { database }) }));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return assemble(super.forRootAsync(options));
  }
}

function isNamed(database: IdModuleOptions['database']): database is NamedDataSource {
  return typeof database === 'object' && !(database.dataSource instanceof DataSource);
}

function assemble(base: DynamicModule): DynamicModule {
  return leafModule(base, MODULE_OPTIONS_TOKEN, (options: LeafOptions) => options);
}
