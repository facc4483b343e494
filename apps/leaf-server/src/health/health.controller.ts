import { applyDecorators, Controller, Get, Res, ServiceUnavailableException } from '@nestjs/common';
import type { SchemaObject } from '@nestjs/swagger';
import { type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { RETRY_AFTER_S } from '@leaf-ids/core/internal';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '../openapi/decorators';
import { RETRY_AFTER_HEADER } from '../openapi/schemas';
import { AggregatedReadiness, type Mode } from './aggregated-readiness';

const PART: SchemaObject = {
  type: 'object',
  description: 'What a part says of itself.',
  properties: { status: { type: 'string', enum: ['up', 'degraded', 'down'] } },
  required: ['status'],
  additionalProperties: true,
};
const PARTS = { type: 'object', additionalProperties: PART } as const;

/** The format of @nestjs/terminus. */
class Health implements HealthCheckResult {
  @ApiProperty({ enum: ['ok', 'degraded', 'error', 'shutting_down'] })
  readonly status!: HealthCheckResult['status'];

  @ApiProperty({ ...PARTS, description: 'The parts that work.' })
  readonly info!: HealthCheckResult['details'];

  @ApiProperty({ ...PARTS, description: 'The parts that do not.' })
  readonly error!: HealthCheckResult['details'];

  @ApiProperty({ ...PARTS, description: 'All parts.' })
  readonly details!: HealthCheckResult['details'];
}

/** Probes for Kubernetes and load balancers, in the format of @nestjs/terminus. */
@Controller('health')
@ApiTags('Watching')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: AggregatedReadiness,
  ) {}

  /** The event loop turns: all that a restart could mend. */
  @Get('live')
  @ApiOperation({ operationId: 'live', summary: 'Whether the process answers at all' })
  @ApiResponse({ status: 200, description: 'It does.', type: Health })
  live(): HealthCheckResult {
    const details = { process: { status: 'up' as const } };
    return { status: 'ok', info: details, error: {}, details };
  }

  /** Always 200: HTTP is opened when the start is complete. */
  @Get('startup')
  @ApiOperation({ operationId: 'startup', summary: 'Whether the start is over' })
  @ApiResponse({
    status: 200,
    description: 'It is: database open, worker ID acquired, tags known.',
    type: Health,
  })
  startup(): HealthCheckResult {
    const details = { start: { status: 'up' as const } };
    return { status: 'ok', info: details, error: {}, details };
  }

  @Get('ready')
  @ApiReadiness('ready', 'Whether requests may come')
  ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    return this.check(reply);
  }

  @Get('ready/segment')
  @ApiReadiness('readySegment', 'Whether requests for segment IDs may come')
  readySegment(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    return this.check(reply, 'segment');
  }

  @Get('ready/snowflake')
  @ApiReadiness('readySnowflake', 'Whether requests for snowflake IDs may come')
  readySnowflake(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    return this.check(reply, 'snowflake');
  }

  private async check(reply: FastifyReply, mode?: Mode): Promise<HealthCheckResult> {
    try {
      return await this.health.check(await this.readiness.checks(mode));
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      void reply.status(503).header('retry-after', String(RETRY_AFTER_S));
      return error.getResponse() as HealthCheckResult;
    }
  }
}

function ApiReadiness(operationId: string, summary: string): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId, summary }),
    ApiResponse({ status: 200, description: 'They may. Degraded: a part fails, IDs are still issued.', type: Health }),
    ApiResponse({
      status: 503,
      description: 'They may not; the part that is down says why.',
      type: Health,
      headers: RETRY_AFTER_HEADER,
    }),
  );
}
