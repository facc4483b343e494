import { type DynamicModule, Module } from '@nestjs/common';
import { Clock, Releasers, SegmentStore, SystemClock } from '@leaf/core';
import { PersistenceModule, type PersistenceModuleOptions } from '@leaf/persistence';
import { HotTagsJob } from './hot-tags.job';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type SegmentModuleOptions,
} from './segment.module-definition';
import { SegmentService } from './segment.service';
import { TagRefreshJob } from './tag-refresh.job';

/** The options alone, for all modules that are made of them. */
@Module({})
class SegmentSettingsModule {}

/** Segment IDs: ranges of a database table, double-buffered in memory. */
@Module({})
export class SegmentModule extends ConfigurableModuleClass {
  static override forRoot(options: SegmentModuleOptions): DynamicModule {
    return assemble(super.forRoot(options));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return assemble(super.forRootAsync(options));
  }
}

function assemble(base: DynamicModule): DynamicModule {
  const settings = { ...base, module: SegmentSettingsModule, exports: [MODULE_OPTIONS_TOKEN] };
  const persistence = PersistenceModule.forRootAsync({
    imports: [settings],
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (options?: SegmentModuleOptions) => options && persistenceOptions(options),
  });
  return {
    module: base.module,
    imports: [settings, persistence],
    providers: [
      { provide: Clock, useClass: SystemClock },
      {
        provide: SegmentService,
        useFactory: (options: SegmentModuleOptions | undefined, store: SegmentStore, users: Releasers, clock: Clock) =>
          options && new SegmentService(store, users, clock, options),
        inject: [MODULE_OPTIONS_TOKEN, SegmentStore, Releasers, Clock],
      },
      TagRefreshJob,
      HotTagsJob,
    ],
    exports: [SegmentService, persistence],
  };
}

function persistenceOptions({ database, maxStep }: SegmentModuleOptions): PersistenceModuleOptions {
  return maxStep === undefined ? database : { ...database, maxStep };
}
