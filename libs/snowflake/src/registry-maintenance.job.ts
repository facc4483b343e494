import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SnowflakeModuleOptions,
} from './snowflake.module-definition';
import { SnowflakeService } from './snowflake.service';

const NAME = 'leaf-registry-maintenance';

/**
 * Runs the registry's housekeeping at the start and periodically. Registered with the application's scheduler, if any.
 */
@Injectable()
export class RegistryMaintenanceJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: SnowflakeModuleOptions | undefined,
    @Optional() private readonly snowflake?: SnowflakeService,
    @Optional() private readonly scheduler?: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const { snowflake } = this;
    if (snowflake === undefined) return;
    const { maintainMs } = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...this.options };
    this.timer = setInterval(() => void snowflake.maintainRegistry(), maintainMs);
    void snowflake.maintainRegistry();
    if (this.scheduler?.doesExist('interval', NAME) === false) this.scheduler.addInterval(NAME, this.timer);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
