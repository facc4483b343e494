import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SnowflakeModuleOptions,
} from './snowflake.module-definition';
import { SnowflakeService } from './snowflake.service';

/**
 * Reserves time ahead every report interval. @nestjs/schedule ends this timer before HTTP closes; while the server
 * drains, the generator itself renews the lease when half of the horizon is used.
 */
@Injectable()
export class TimeReportJob implements OnApplicationBootstrap {
  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly snowflake: SnowflakeService,
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: SnowflakeModuleOptions,
  ) {}

  onApplicationBootstrap(): void {
    const { reportMs } = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...this.options };
    const timer = setInterval(() => void this.snowflake.reportTime(), reportMs);
    this.scheduler.addInterval('leaf-time-report', timer);
  }
}
