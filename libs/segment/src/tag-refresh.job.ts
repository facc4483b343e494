import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import {
  DEFAULT_SEGMENT_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SegmentModuleOptions,
} from './segment.module-definition';
import { SegmentService } from './segment.service';

const NAME = 'leaf-tag-refresh';

/** Refreshes the tag set every refresh interval. Listed with the application's scheduler, where it has one. */
@Injectable()
export class TagRefreshJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: SegmentModuleOptions | undefined,
    @Optional() private readonly segments?: SegmentService,
    @Optional() private readonly scheduler?: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const { segments } = this;
    if (segments === undefined) return;
    const { refreshMs } = { ...DEFAULT_SEGMENT_MODULE_OPTIONS, ...this.options };
    this.timer = setInterval(() => void segments.refreshTags(), refreshMs);
    if (this.scheduler?.doesExist('interval', NAME) === false) this.scheduler.addInterval(NAME, this.timer);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
