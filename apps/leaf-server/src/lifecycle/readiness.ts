import type { Server } from 'node:http';
import { Injectable, Optional } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { SegmentService } from '@leaf/segment';
import { SnowflakeService } from '@leaf/snowflake';
import { Drain } from './drain';

/** What each part of this process says when it is asked whether requests may come. */
@Injectable()
export class Readiness {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly drain: Drain,
    private readonly host: HttpAdapterHost,
    @Optional() private readonly segments?: SegmentService,
    @Optional() private readonly snowflake?: SnowflakeService,
  ) {}

  checks(): (() => HealthIndicatorResult)[] {
    return [
      () => this.draining(),
      ...(this.segments === undefined ? [] : [() => this.segmentMode()]),
      ...(this.snowflake === undefined ? [] : [() => this.snowflakeMode()]),
    ];
  }

  /** Whether connections can come at all: a process that takes the place of another one waits until it is ready. */
  get listening(): boolean {
    return (this.host.httpAdapter.getHttpServer() as Server).listening;
  }

  /** Whether requests may come to this process. */
  get ready(): boolean {
    return this.checks().every((check) => Object.values(check()).every(({ status }) => status !== 'down'));
  }

  private draining(): HealthIndicatorResult {
    const check = this.indicators.check('drain');
    return this.drain.active ? check.down(this.drain.reason) : check.up();
  }

  /** Degraded, not down, when the database fails: what is in memory is still served. */
  private segmentMode(): HealthIndicatorResult {
    const check = this.indicators.check('segment');
    const refresh = this.segments?.refreshSnapshot();
    if (refresh?.lastError === undefined) return check.up();
    if (refresh.lastSuccessAt === undefined) return check.down(refresh.lastError);
    return check.degraded(refresh.lastError);
  }

  private snowflakeMode(): HealthIndicatorResult {
    const check = this.indicators.check('snowflake');
    const refusal = this.snowflake?.refusal();
    if (refusal !== undefined) return check.down({ code: refusal.code, message: refusal.message });
    const problem = this.snowflake?.snapshot().lease.report.lastError ?? this.snowflake?.registryTrouble;
    return problem === undefined ? check.up() : check.degraded(problem);
  }
}
