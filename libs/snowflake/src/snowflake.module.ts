import { type DynamicModule, Module } from '@nestjs/common';
import { BitLayout, Clock, SystemClock, WorkerRegistry } from '@leaf/core';
import { defaultHorizonMs, RegistryModule, type RegistryModuleOptions } from '@leaf/registry';
import { RegistryMaintenanceJob } from './registry-maintenance.job';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SnowflakeModuleOptions,
} from './snowflake.module-definition';
import { SnowflakeService } from './snowflake.service';
import { TimeReportJob } from './time-report.job';

/** The options alone, for all modules that are made of them. */
@Module({})
class SnowflakeSettingsModule {}

/** Snowflake IDs: time, worker ID, sequence, under a lease from a registry. */
@Module({})
export class SnowflakeModule extends ConfigurableModuleClass {
  static override forRoot(options: SnowflakeModuleOptions): DynamicModule {
    return assemble(super.forRoot(options));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return assemble(super.forRootAsync(options));
  }
}

function assemble(base: DynamicModule): DynamicModule {
  const settings = { ...base, module: SnowflakeSettingsModule, exports: [MODULE_OPTIONS_TOKEN] };
  const registry = RegistryModule.forRootAsync({
    imports: [settings],
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (options?: SnowflakeModuleOptions) => options && registryOptions(options),
  });
  return {
    module: base.module,
    imports: [settings, registry],
    providers: [
      { provide: Clock, useClass: SystemClock },
      {
        provide: SnowflakeService,
        useFactory: (options: SnowflakeModuleOptions | undefined, workers: WorkerRegistry, clock: Clock) =>
          options && new SnowflakeService(workers, clock, options),
        inject: [MODULE_OPTIONS_TOKEN, WorkerRegistry, Clock],
      },
      TimeReportJob,
      RegistryMaintenanceJob,
    ],
    exports: [SnowflakeService],
  };
}

/** What the registry has to know of snowflake mode. */
function registryOptions(given: SnowflakeModuleOptions): RegistryModuleOptions {
  const options = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...given };
  const { registry, reportMs, maxClockOffsetMs, horizonMs = defaultHorizonMs(registry) } = options;
  const { fingerprint, maxWorkerId } = new BitLayout(options.layout);
  return { registry, reportMs, maxClockOffsetMs, horizonMs, layout: fingerprint, maxWorkerId };
}
