import { type BeforeApplicationShutdown, type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import type { Clock } from '@leaf-ids/core';
import { IdModule } from '@leaf-ids/id';
import { AdminModule } from './admin/admin.module';
import { ProcessesModule } from './processes/processes.module';
import type { ProcessBus } from './processes/process-bus';
import { ConfigModule } from './config/config.module';
import type { LeafConfig } from './config/leaf-config';
import type { LeafLogger } from './config/logging';
import { ConsoleModule } from './console/console.module';
import { ClusterModule } from './cluster/cluster.module';
import { HealthModule } from './health/health.module';
import { HttpModule } from './http/http.module';
import type { OverloadCounts } from './http/overload/refusals';
import type { RequestCounts } from './http/request-counts';
import { IdsModule } from './ids/ids.module';
import { JavaCompatModule } from './java-compat/java-compat.module';
import { Drain } from './lifecycle/drain';
import { LifecycleModule } from './lifecycle/lifecycle.module';
import { MetricsModule } from './metrics/metrics.module';
import { MonitorModule } from './monitor/monitor.module';
import { OpenApiModule } from './openapi/openapi.module';
import { RespModule } from './resp/resp.module';
import { ClientsModule } from './clients/clients.module';
import { TokensModule } from './tokens/tokens.module';
import { WorkerWindowsModule } from './worker-windows/worker-windows.module';

/** Parts that exist before Nest: those ahead of it, and what another process has sent. */
export interface AppParts {
  readonly logger: LeafLogger;
  readonly clock: Clock;
  readonly drain: Drain;
  readonly requests: RequestCounts;
  readonly overload: OverloadCounts;
  readonly bus: ProcessBus;
  /** Aborts a start under way. */
  readonly signal?: AbortSignal;
}

@Module({})
export class AppModule implements BeforeApplicationShutdown {
  constructor(private readonly drain: Drain) {}

  /** Here, because the root comes first: until the drain is over, no other module learns that the server stops. */
  beforeApplicationShutdown(): Promise<void> {
    return this.drain.beforeStop();
  }

  static forRoot(
    config: LeafConfig,
    { logger, clock, drain, requests, overload, bus, signal }: AppParts,
  ): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config, logger),
        TokensModule,
        ClientsModule,
        LifecycleModule.forRoot(clock, drain, IdModule.forRoot({ ...config.ids, ...(signal && { signal }) })),
        ProcessesModule.forRoot(bus),
        HttpModule.forRoot(requests, overload),
        ScheduleModule.forRoot(),
        IdsModule,
        HealthModule,
        MonitorModule,
        ClusterModule,
        MetricsModule,
        AdminModule,
        WorkerWindowsModule,
        OpenApiModule,
        ConsoleModule,
        RespModule,
        JavaCompatModule,
      ],
    };
  }
}
