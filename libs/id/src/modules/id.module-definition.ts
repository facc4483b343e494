import { ConfigurableModuleBuilder, type InjectionToken } from '@nestjs/common';
import { flag, refuseFaults } from '@leaf-ids/core/internal';
import type { CommonOptions, LeafOptions, OpenDataSource } from '../options/leaf-options';

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
  /** With several databases, the names of those whose data sources can be injected; `forRoot` finds them itself. */
  readonly databases?: readonly string[];
}

/** Transient: Nest 10 takes modules for the same one when their functions have the same source text. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<IdModuleFactoryOptions>({ alwaysTransient: true })
    .setClassMethodName('forRoot')
    .setExtras<IdModuleExtras>({ isGlobal: false }, (definition, { isGlobal = false }) => {
      refuseFaults('IdModule', flag(isGlobal, 'isGlobal'));
      return { ...definition, global: isGlobal };
    })
    .build();
