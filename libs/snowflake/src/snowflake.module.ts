import { type DynamicModule, Module } from '@nestjs/common';
import { BitLayout, Clock, DEFAULT_LAYOUT, SystemClock } from '@leaf/core';
import { RegistryModule, type RegistryModuleOptions } from '@leaf/registry';
import { RegistryMaintenanceJob } from './registry-maintenance.job';
import { ConfigurableModuleClass, type SnowflakeModuleOptions } from './snowflake.module-definition';
import { SnowflakeService } from './snowflake.service';
import { TimeReportJob } from './time-report.job';

/** Snowflake IDs: time, worker ID, sequence, under a lease from a registry. */
@Module({})
export class SnowflakeModule extends ConfigurableModuleClass {
  static override forRoot(options: SnowflakeModuleOptions): DynamicModule {
    const base = super.forRoot(options);
    return {
      ...base,
      imports: [RegistryModule.forRoot(withinLayout(options))],
      providers: [
        ...(base.providers ?? []),
        { provide: Clock, useClass: SystemClock },
        SnowflakeService,
        TimeReportJob,
        RegistryMaintenanceJob,
      ],
      exports: [SnowflakeService],
    };
  }
}

/** A registry never hands out a worker ID that the layout cannot hold. */
function withinLayout({ registry, layout = DEFAULT_LAYOUT }: SnowflakeModuleOptions): RegistryModuleOptions {
  if (registry.strategy === 'custom' || registry.strategy === 'local') return registry;
  return { maxWorkerId: new BitLayout(layout).maxWorkerId, ...registry };
}
