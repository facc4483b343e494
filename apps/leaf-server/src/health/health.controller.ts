import { applyDecorators, Controller, Get, Injectable, Res, ServiceUnavailableException } from '@nestjs/common';
import type { SchemaObject } from '@nestjs/swagger';
import { type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { RETRY_AFTER_S } from '@leaf-ids/core/internal';
import { mergeReadiness, type ServerHealth, ServerStatus } from '../processes/merge-status';
import { type Gathered, ProcessBus } from '../processes/process-bus';
import { type ProcessReadiness, Readiness, readinessOf } from '../lifecycle/readiness';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '../openapi/decorators';
import { RETRY_AFTER_HEADER } from '../openapi/schemas';

export type Mode = 'segment' | 'snowflake';

/** A check in the form of @nestjs/terminus. */
type Check = () => Record<string, ServerHealth>;

/**
 * Whether requests may come to the server, whichever of its processes gets them: each one that takes connections has to
 * be ready. One that is stuck, or being replaced, takes none, and the others serve meanwhile: the server is degraded.
 */
@Injectable()
export class AggregatedReadiness {
  constructor(
    private readonly own: Readiness,
    private readonly bus: ProcessBus,
    private readonly status: ServerStatus,
  ) {}

  /**
   * One check of each part.
   *
   * @param mode the only one that callers use: a fault of the other mode does not count
   */
  async checks(mode?: Mode): Promise<Check[]> {
    const parts = await this.parts();
    return Object.entries(mode === undefined ? parts : partsOf(mode, parts)).map(([name, health]) => () => ({
      [name]: health,
    }));
  }

  private async parts(): Promise<Record<string, ServerHealth>> {
    if (this.bus.count === 1) return readinessOf(this.own.current());
    const gathered = await this.status.gatherReadiness();
    return { ...mergeReadiness(gathered), processes: processesOf(gathered) };
  }
}

function partsOf(mode: Mode, parts: Record<string, ServerHealth>): Record<string, ServerHealth> {
  const other = mode === 'segment' ? 'snowflake' : 'segment';
  const off: ServerHealth = { status: 'down', message: `LEAF_${mode.toUpperCase()}_ENABLED is false on this server.` };
  const all = Object.entries({ [mode]: off, ...parts });
  return Object.fromEntries(all.filter(([name]) => name !== other));
}

function processesOf({ answers, missing }: Gathered<ProcessReadiness>): ServerHealth {
  const away = [
    ...answers.filter(({ value }) => !value.listening).map(({ process }) => `process ${process}: it is starting`),
    ...missing.map(({ process, reason }) => `process ${process}: ${reason}`),
  ];
  if (away.length === 0) return { status: 'up' };
  return { status: 'degraded', message: `Not all processes serve. ${away.sort().join('; ')}` };
}

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
