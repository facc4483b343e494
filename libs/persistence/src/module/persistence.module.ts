import { randomUUID } from 'node:crypto';
import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { SegmentStore, TagStore } from '@leaf-ids/core';
import { assertOptions } from '@leaf-ids/core/internal';
import { openDataSource, openPersistence } from './open-persistence';
import { Persistence } from './persistence';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type PersistenceModuleOptions,
  persistenceRule,
} from './persistence.module-definition';

/** Provides the options to the modules below. */
@Module({})
class PersistenceSettingsModule {}

/**
 * The data source, which TypeOrmModule owns and destroys, and the stores on it. Without options, each store is
 * undefined.
 */
@Module({})
export class PersistenceModule extends ConfigurableModuleClass {
  static override forRoot(options: PersistenceModuleOptions): DynamicModule {
    return this.forRootAsync({ useFactory: () => options });
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return assemble(super.forRootAsync(options));
  }
}

function assemble(base: DynamicModule): DynamicModule {
  // Data source names are global: avoid those of the application and of other instances of this module.
  const name = `leaf-${randomUUID()}`;
  const settings = { ...base, module: PersistenceSettingsModule, exports: [MODULE_OPTIONS_TOKEN] };
  const source = TypeOrmModule.forRootAsync({
    name,
    imports: [settings],
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (persistence?: PersistenceModuleOptions) => sourceOptions(name, persistence),
    dataSourceFactory: (options) => openDataSource((options as SourceOptions | undefined)?.persistence),
  });
  return {
    module: base.module,
    imports: [settings, source],
    providers: [
      {
        provide: Persistence,
        useFactory: openPersistence,
        inject: [MODULE_OPTIONS_TOKEN, getDataSourceToken(name)],
      },
      part(SegmentStore, ({ segments }) => segments),
      part(TagStore, ({ tags }) => tags),
    ],
    exports: [Persistence, SegmentStore, TagStore],
  };
}

type SourceOptions = TypeOrmModuleOptions & { readonly persistence?: PersistenceModuleOptions };

/**
 * `openDatabase` does the retries and the initialization. Up to version 11, TypeOrmModule looks for the name in the
 * result of the factory, too.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults
 */
function sourceOptions(name: string, persistence?: PersistenceModuleOptions): SourceOptions {
  if (persistence !== undefined) assertOptions('PersistenceModule', persistenceRule, persistence);
  return { name, ...(persistence && { persistence }), manualInitialization: true, toRetry: () => false };
}

function part(provide: FactoryProvider['provide'], pick: (persistence: Persistence) => unknown): FactoryProvider {
  return {
    provide,
    useFactory: (persistence?: Persistence) => persistence && pick(persistence),
    inject: [Persistence],
  };
}
