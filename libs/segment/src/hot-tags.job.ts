import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { MODULE_OPTIONS_TOKEN, type SegmentModuleOptions } from './segment.module-definition';
import { SegmentService } from './segment.service';

const NAME = 'leaf-hot-tags';
const INTERVAL_MS = 300_000;

/** Saves the list of hot tags every five minutes, for a server that is killed. Only where there is a file to save it in. */
@Injectable()
export class HotTagsJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: SegmentModuleOptions | undefined,
    @Optional() private readonly segments?: SegmentService,
    @Optional() private readonly scheduler?: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const { segments } = this;
    if (segments === undefined || this.options?.hotTagsFile === undefined) return;
    this.timer = setInterval(() => void segments.saveHotTags(), INTERVAL_MS);
    if (this.scheduler?.doesExist('interval', NAME) === false) this.scheduler.addInterval(NAME, this.timer);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
