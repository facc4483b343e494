import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Put, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock, LeafError } from '@leaf-ids/core';
import { WINDOW_MS, type WindowProgress, type WorkerWindow, type WorkerWindows } from '@leaf-ids/core/internal';
import { Leaf, type SnowflakeService } from '@leaf-ids/id';
import { BodyPipe } from '../http/responses/body.pipe';
import { ApiBearerAuth, ApiJsonBody, ApiOperation, ApiParam, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { LEASE, LEASE_PATTERN, WindowAnswer, WindowList } from './window-answers';
import type * as Bodies from './window-bodies';
import { WorkerGuard } from './worker.guard';

const newWindow = async (): Promise<typeof Bodies.NewWindowBody> => (await import('./window-bodies.js')).NewWindowBody;
const extension = async (): Promise<typeof Bodies.ExtensionBody> => (await import('./window-bodies.js')).ExtensionBody;
const release = async (): Promise<typeof Bodies.ReleaseBody> => (await import('./window-bodies.js')).ReleaseBody;

const REGISTRY_PROBLEMS = ['LEAF_WINDOWS_DISABLED', 'LEAF_NOT_READY', 'LEAF_REGISTRY_UNREACHABLE'] as const;
const CLOCK_PROBLEMS = ['LEAF_CLOCK_OFFSET', 'LEAF_CLOCK_BEHIND'] as const;
const LOST = [409, 'LEAF_LEASE_LOST'] as const;
const PATH_LEASE = { name: 'lease', description: LEASE.description, schema: LEASE } as const;

/** Worker IDs for processes that issue snowflake IDs themselves, each within a window of time: docs/worker-windows.md. */
@Controller('api/workers')
@ApiTags('Worker windows')
@UseGuards(WorkerGuard)
@ApiBearerAuth()
export class WorkersController {
  constructor(
    private readonly leaf: Leaf,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Post()
  @ApiOperation({
    operationId: 'acquireWorker',
    summary: 'Acquires a worker ID',
    description: 'Again with the same lease, it returns the same worker ID: ask again if the response is lost.',
  })
  @ApiJsonBody(newWindow)
  @ApiResponse({ status: 201, description: 'The window.', type: WindowAnswer })
  @ApiResponse({ status: 200, description: 'The window that the lease already had, extended.', type: WindowAnswer })
  @ApiProblems(LOST, [409, 'LEAF_WORKERS_USED_UP'], ...REGISTRY_PROBLEMS, ...CLOCK_PROBLEMS)
  async acquire(
    @Body(new BodyPipe(newWindow)) { lease, holder, windowMs = WINDOW_MS.default }: Bodies.NewWindowBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WindowAnswer> {
    const { window, isNew } = await this.windows.issue(lease.toLowerCase(), holder, windowMs);
    void reply.status(isNew ? 201 : 200);
    return this.answer(window);
  }

  @Put(':lease')
  @ApiOperation({ operationId: 'extendWorker', summary: 'Extends a window' })
  @ApiParam(PATH_LEASE)
  @ApiJsonBody(extension)
  @ApiResponse({ status: 200, description: 'The window, with a later end.', type: WindowAnswer })
  @ApiProblems(LOST, 'LEAF_LEASE_NOT_FOUND', ...REGISTRY_PROBLEMS, ...CLOCK_PROBLEMS)
  async extend(
    @Param('lease') lease: string,
    @Body(new BodyPipe(extension, {})) { windowMs = WINDOW_MS.default, workerId, ...rest }: Bodies.ExtensionBody,
  ): Promise<WindowAnswer> {
    return this.answer(await this.windows.extend(leaseOf(lease), windowMs, workerId, progressOf(rest)));
  }

  @Delete(':lease')
  @ApiOperation({
    operationId: 'releaseWorker',
    summary: 'Releases a worker ID',
    description: 'Does nothing if the lease has none.',
  })
  @ApiParam(PATH_LEASE)
  @ApiJsonBody(release)
  @ApiResponse({ status: 204, description: 'Done.' })
  @ApiProblems('LEAF_LEASE_NOT_FOUND', ...REGISTRY_PROBLEMS)
  @HttpCode(204)
  async release(
    @Param('lease') lease: string,
    @Body(new BodyPipe(release, {})) { lastTimestamp, ...rest }: Bodies.ReleaseBody,
  ): Promise<void> {
    await this.windows.release(leaseOf(lease), lastTimestamp, progressOf(rest));
  }

  @Get()
  @ApiOperation({ operationId: 'listWorkers', summary: 'The windows that have not ended' })
  @ApiResponse({ status: 200, description: 'Without their leases.', type: WindowList })
  @ApiProblems(...REGISTRY_PROBLEMS)
  async list(): Promise<WindowList> {
    const windows = await this.windows.list();
    const workers = windows.map(({ workerId, holder, from, until }) => ({ workerId, holder, from, until }));
    return { workers: workers.sort((a, b) => a.workerId - b.workerId) };
  }

  private get windows(): WorkerWindows {
    return this.snowflake.windows;
  }

  private get snowflake(): SnowflakeService {
    const { snowflake } = this.leaf;
    if (snowflake === undefined) throw new LeafError('LEAF_SNOWFLAKE_DISABLED', 'Snowflake mode is off.');
    return snowflake;
  }

  private answer({ workerId, lease, from, until }: WorkerWindow): WindowAnswer {
    const { epoch, timeBits, workerBits, sequenceBits } = this.snowflake.layout;
    const layout = { epoch, timeBits, workerBits, sequenceBits };
    return { workerId, lease, from, until, now: this.clock.now(), layout };
  }
}

/** @throws LeafError `LEAF_LEASE_NOT_FOUND` */
function leaseOf(lease: string): string {
  if (LEASE_PATTERN.test(lease)) return lease.toLowerCase();
  throw new LeafError('LEAF_LEASE_NOT_FOUND', 'The path contains no lease: 32 hexadecimal digits.');
}

function progressOf({ known, mark }: Partial<WindowProgress>): WindowProgress | undefined {
  return known === undefined ? undefined : { known, mark };
}
