import { Controller, Get, Res, ServiceUnavailableException } from '@nestjs/common';
import { type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { RETRY_AFTER_S } from '../http/responses/problem';
import { Describe, json } from '../openapi/route-description';
import { RETRY_AFTER } from '../openapi/shared-schemas';
import { HEALTH } from './health-schema';
import { ServerReadiness } from './server-readiness';

/** Probes for Kubernetes and load balancers, in the format of @nestjs/terminus. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: ServerReadiness,
  ) {}

  /** The event loop turns: all that a restart could mend. */
  @Get('live')
  @Describe({
    id: 'live',
    group: 'Watching',
    summary: 'Whether the process answers at all',
    answers: { 200: json(HEALTH, 'It does.') },
  })
  live(): HealthCheckResult {
    const details = { process: { status: 'up' as const } };
    return { status: 'ok', info: details, error: {}, details };
  }

  /** HTTP is opened when all that a start has to do is done: whoever hears this has started. */
  @Get('startup')
  @Describe({
    id: 'startup',
    group: 'Watching',
    summary: 'Whether the start is over',
    answers: { 200: json(HEALTH, 'It is: database open, worker ID acquired, tags known.') },
  })
  startup(): HealthCheckResult {
    const details = { start: { status: 'up' as const } };
    return { status: 'ok', info: details, error: {}, details };
  }

  @Get('ready')
  @Describe({
    id: 'ready',
    group: 'Watching',
    summary: 'Whether requests may come',
    answers: {
      200: json(HEALTH, 'They may. Degraded: something fails, IDs still flow.'),
      503: {
        ...json(HEALTH, 'They may not; the part that is down says why.'),
        headers: { 'Retry-After': RETRY_AFTER },
      },
    },
  })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    try {
      return await this.health.check(await this.readiness.checks());
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      void reply.status(503).header('retry-after', String(RETRY_AFTER_S));
      return error.getResponse() as HealthCheckResult;
    }
  }
}
