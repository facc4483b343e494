import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SnowflakeModuleOptions,
} from './snowflake.module-definition';
import { SnowflakeService } from './snowflake.service';

const NAME = 'leaf-time-report';

/**
 * Reserves time ahead every report interval. Listed with the application's scheduler, where it has one; that one ends
 * its timers before HTTP closes, and from then on the generator renews the lease when half of the horizon is used.
 */
@Injectable()
export class TimeReportJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: SnowflakeModuleOptions | undefined,
    @Optional() private readonly snowflake?: SnowflakeService,
    @Optional() private readonly scheduler?: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const { snowflake } = this;
    if (snowflake === undefined) return;
    const { reportMs } = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...this.options };
    this.timer = setInterval(() => void snowflake.reportTime(), reportMs);
    if (this.scheduler?.doesExist('interval', NAME) === false) this.scheduler.addInterval(NAME, this.timer);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
