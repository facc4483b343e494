import { ConfigurableModuleBuilder, type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { flag, refuseFaults } from '@leaf-ids/core/internal';
import type { CommonOptions, LeafOptions, OpenDataSource } from '../options/mode-options';
import { assertLeafOptions } from '../options/option-rules';
import { leafModule } from './leaf.module';

/** A data source by its injection token: `DataSource`, or `getDataSourceToken('orders')`. */
export interface NamedDataSource {
  readonly dataSource: InjectionToken;
}

/** The result of an options factory; it contains a data source itself, not its token. */
export type IdModuleFactoryOptions = LeafOptions;

/** As {@link LeafOptions}; a data source may also be given by its injection token. */
export type IdModuleOptions = CommonOptions<string | OpenDataSource | NamedDataSource>;

export interface IdModuleExtras {
  /** Export `IdService` to every module of the application; false by default. */
  readonly isGlobal?: boolean;
}

/** Transient: Nest 10 takes modules for the same one when their functions have the same source text. */
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<IdModuleFactoryOptions>({ alwaysTransient: true })
    .setClassMethodName('forRoot')
    .setExtras<IdModuleExtras>({ isGlobal: false }, (definition, { isGlobal = false }) => {
      refuseFaults('IdModule', flag(isGlobal, 'isGlobal'));
      return { ...definition, global: isGlobal };
    })
    .build();

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
    const given = { ...others, ...(database !== undefined && { database }) };
    // Nest 10 cannot serialize a value with a bigint, such as the maxId of a tag.
    return this.forRootAsync({ isGlobal, useFactory: () => given });
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return assemble(super.forRootAsync(options));
  }
}

/** An open data source is an object; a token is not. */
function isNamed(database: unknown): database is NamedDataSource {
  if (typeof database !== 'object' || database === null || !('dataSource' in database)) return false;
  return ['string', 'symbol', 'function'].includes(typeof database.dataSource);
}

function assemble(base: DynamicModule): DynamicModule {
  return leafModule(base, MODULE_OPTIONS_TOKEN, (options: LeafOptions) => {
    assertLeafOptions('IdModule', options);
    return options;
  });
}
