import { Controller, Get, Res, ServiceUnavailableException } from '@nestjs/common';
import { type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { Readiness } from './readiness';

/** Probes for Kubernetes and load balancers, in the format of @nestjs/terminus. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: Readiness,
  ) {}

  /** The event loop turns: all that a restart could mend. */
  @Get('live')
  live(): HealthCheckResult {
    const details = { process: { status: 'up' as const } };
    return { status: 'ok', info: details, error: {}, details };
  }

  /** HTTP is opened when all that a start has to do is done: whoever hears this has started. */
  @Get('startup')
  startup(): HealthCheckResult {
    const details = { start: { status: 'up' as const } };
    return { status: 'ok', info: details, error: {}, details };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    try {
      return await this.health.check(this.readiness.checks());
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      void reply.status(503);
      return error.getResponse() as HealthCheckResult;
    }
  }
}
