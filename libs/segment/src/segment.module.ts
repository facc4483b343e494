import { type DynamicModule, Module } from '@nestjs/common';
import { Clock, SystemClock } from '@leaf/core';
import { PersistenceModule, ShardedPersistenceModule } from '@leaf/persistence';
import { ConfigurableModuleClass, type SegmentModuleOptions } from './segment.module-definition';
import { SegmentService } from './segment.service';
import { HotTagsJob } from './hot-tags.job';
import { TagRefreshJob } from './tag-refresh.job';

/** Segment IDs: ranges of a database table, double-buffered in memory. */
@Module({})
export class SegmentModule extends ConfigurableModuleClass {
  static override forRoot(options: SegmentModuleOptions): DynamicModule {
    const base = super.forRoot(options);
    const { database } = options;
    const persistence =
      'shards' in database ? ShardedPersistenceModule.forRoot(database) : PersistenceModule.forRoot(database);
    return {
      ...base,
      imports: [persistence],
      providers: [
        ...(base.providers ?? []),
        { provide: Clock, useClass: SystemClock },
        SegmentService,
        TagRefreshJob,
        HotTagsJob,
      ],
      exports: [SegmentService, persistence],
    };
  }
}
