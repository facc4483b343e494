import { ConfigurableModuleBuilder, type InjectionToken } from '@nestjs/common';
import type { CommonOptions, LeafOptions, OpenDataSource } from './leaf-options';

/** `DataSource`, or `getDataSourceToken('orders')`. */
export interface NamedDataSource {
  readonly dataSource: InjectionToken;
}

/** What a factory returns: a data source is given as it is. */
export type IdModuleFactoryOptions = LeafOptions;

/** A data source may be named by its injection token as well. */
export type IdModuleOptions = CommonOptions<string | OpenDataSource | NamedDataSource>;

export interface IdModuleExtras {
  /** Make `IdService` known to every module of the application; false by default. */
  readonly isGlobal?: boolean;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<IdModuleFactoryOptions>()
    .setClassMethodName('forRoot')
    .setExtras<IdModuleExtras>({ isGlobal: false }, (definition, { isGlobal = false }) => ({
      ...definition,
      global: isGlobal,
    }))
    .build();
