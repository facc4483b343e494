import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import {
  DEFAULT_SEGMENT_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SegmentModuleOptions,
} from './segment.module-definition';
import { SegmentService } from './segment.service';

/** Refreshes the tag set every refresh interval. */
@Injectable()
export class TagRefreshJob implements OnApplicationBootstrap {
  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly segments: SegmentService,
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: SegmentModuleOptions,
  ) {}

  onApplicationBootstrap(): void {
    const { refreshMs } = { ...DEFAULT_SEGMENT_MODULE_OPTIONS, ...this.options };
    const timer = setInterval(() => void this.segments.refreshTags(), refreshMs);
    this.scheduler.addInterval('leaf-tag-refresh', timer);
  }
}
