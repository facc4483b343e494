import { type DynamicModule, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IdService } from '@leaf/core';
import { SegmentModule, SegmentService } from '@leaf/segment';
import { SnowflakeModule, SnowflakeService } from '@leaf/snowflake';
import { DeclaredTags } from './declared-tags';
import { EmbeddedIdService } from './embedded-id-service';
import { LeafHealthIndicator } from './health/leaf-health-indicator';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  type IdModuleExtras,
  type IdModuleFactoryOptions,
  type IdModuleOptions,
  MODULE_OPTIONS_TOKEN,
  type NamedDataSource,
} from './id.module-definition';
import { segmentOptions, snowflakeOptions } from './mode-options';

/** The options alone, for all modules that are made of them. */
@Module({})
class IdSettingsModule {}

/**
 * `IdService` in this process, on segments, snowflake, or both. It does what a server of Leaf does, its background work
 * and its orderly stop included; several of them, each in a module of its own, do not disturb each other.
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

function assemble({ module, global = false, imports = [], providers = [] }: DynamicModule): DynamicModule {
  const settings = { module: IdSettingsModule, imports, providers, exports: [MODULE_OPTIONS_TOKEN] };
  const from = <Result>(
    useFactory: (options: IdModuleFactoryOptions) => Result,
  ): { imports: (typeof settings)[]; inject: (typeof MODULE_OPTIONS_TOKEN)[]; useFactory: typeof useFactory } => ({
    imports: [settings],
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory,
  });
  const modes = [
    SegmentModule.forRootAsync(from(segmentOptions)),
    SnowflakeModule.forRootAsync(from(snowflakeOptions)),
  ];
  return {
    module,
    global,
    imports: [settings, ...modes],
    providers: [
      {
        provide: EmbeddedIdService,
        useFactory: (segments?: SegmentService, snowflakes?: SnowflakeService) =>
          new EmbeddedIdService(segments, snowflakes),
        inject: [SegmentService, SnowflakeService],
      },
      { provide: IdService, useExisting: EmbeddedIdService },
      LeafHealthIndicator,
      DeclaredTags,
    ],
    exports: [EmbeddedIdService, IdService, LeafHealthIndicator, ...modes],
  };
}
