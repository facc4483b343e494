import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { TerminusModule } from '@nestjs/terminus';
import { Clock, SystemClock } from '@leaf/core';
import { IdModule } from '@leaf/id';
import { AdminGuard } from './admin/admin.guard';
import { AdminTokens } from './admin/admin-tokens';
import { Audit } from './admin/audit';
import { FailureLimit } from './admin/failure-limit';
import { ServerAdminController } from './admin/server-admin.controller';
import { TagAdmin } from './admin/tag-admin';
import { TagAdminController } from './admin/tag-admin.controller';
import { TagsController } from './admin/tags.controller';
import type { LeafConfig } from './config/leaf-config';
import { ConsoleController } from './console/console.controller';
import { Site, SITE_DIRECTORY } from './console/site';
import { Drain } from './lifecycle/drain';
import { HealthController } from './health/health.controller';
import { Readiness } from './lifecycle/readiness';
import { ServerReadiness } from './health/server-readiness';
import { ProblemFilter } from './http/responses/problem.filter';
import { JavaController } from './java-compat/java.controller';
import { PeriodController } from './ids/period.controller';
import { SegmentController } from './ids/segment.controller';
import { SnowflakeController } from './ids/snowflake.controller';
import { TimeController } from './ids/time.controller';
import { Metrics } from './metrics/metrics';
import { MetricsController } from './metrics/metrics.controller';
import { OverloadCounts } from './http/overload/overload-counts';
import { RequestCounts } from './http/request-counts';
import { SharedState } from './cluster/shared-state';
import { Siblings } from './cluster/siblings';
import { ApiDocument } from './openapi/api-document';
import { OpenApiController } from './openapi/openapi.controller';
import { MONITOR_CONTROLLERS, monitorProviders } from './monitor/monitor.providers';

@Module({})
export class AppModule {
  static forRoot(
    config: LeafConfig,
    counts: RequestCounts,
    overload: OverloadCounts,
    drain: Drain,
    siblings: Siblings,
  ): DynamicModule {
    const { ids, adminTokens } = config;
    return {
      module: AppModule,
      imports: [IdModule.forRoot(ids), ScheduleModule.forRoot(), TerminusModule.forRoot({ logger: false })],
      controllers: [
        SegmentController,
        PeriodController,
        SnowflakeController,
        JavaController,
        TimeController,
        HealthController,
        MetricsController,
        TagsController,
        TagAdminController,
        ServerAdminController,
        OpenApiController,
        ConsoleController,
        ...MONITOR_CONTROLLERS,
      ],
      providers: [
        { provide: Clock, useClass: SystemClock },
        { provide: RequestCounts, useValue: counts },
        { provide: OverloadCounts, useValue: overload },
        { provide: Drain, useValue: drain },
        { provide: Siblings, useValue: siblings },
        { provide: APP_FILTER, useClass: ProblemFilter },
        Readiness,
        ServerReadiness,
        SharedState,
        Metrics,
        { provide: AdminTokens, useFactory: (clock: Clock) => new AdminTokens(adminTokens, clock), inject: [Clock] },
        { provide: FailureLimit, useFactory: (clock: Clock) => new FailureLimit(clock), inject: [Clock] },
        AdminGuard,
        Audit,
        TagAdmin,
        ApiDocument,
        { provide: Site, useFactory: () => Site.load(SITE_DIRECTORY) },
        ...monitorProviders(config),
      ],
    };
  }
}
