import { type DynamicModule, Module } from '@nestjs/common';
import { Clock, SystemClock } from '@leaf/core';
import { RegistryModule } from '@leaf/registry';
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
      imports: [RegistryModule.forRoot(options.registry)],
      providers: [
        ...(base.providers ?? []),
        { provide: Clock, useClass: SystemClock },
        SnowflakeService,
        TimeReportJob,
      ],
      exports: [SnowflakeService],
    };
  }
}
