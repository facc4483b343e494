import { Controller, Delete, HttpCode, Post } from '@nestjs/common';
import { Drain } from '../lifecycle/drain';
import { ApiOperation, ApiProperty, ApiResponse, ApiSchema, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { broadcast } from '../cluster/broadcast';
import { WorkerBus, BusRequest } from '../cluster/worker-bus';
import type { Actor } from './actor';
import { CurrentActor } from './actor';
import { AdminOnly } from './admin-only';
import { Audit } from './audit';

@ApiSchema({ name: 'Drain' })
class DrainResponse {
  @ApiProperty({ description: 'Whether the server wants no more requests.' })
  readonly draining!: boolean;
}

/** True begins a drain, false ends it. */
const DRAIN_ORDER = new BusRequest<boolean, void>('drain');

/** This server, not those beside it. Every route here needs a token. */
@Controller('api/server')
@ApiTags('This server')
@AdminOnly()
export class ServerAdminController {
  constructor(
    private readonly drain: Drain,
    private readonly audit: Audit,
    private readonly bus: WorkerBus,
  ) {
    bus.serve(DRAIN_ORDER, (begin) => (begin ? drain.begin() : drain.undo()));
  }

  @Post('drain')
  @ApiOperation({
    operationId: 'drain',
    summary: 'Lets load balancers look elsewhere',
    description:
      '`/health/ready` turns 503 while IDs are still served, each on a connection that ends with its answer.',
  })
  @ApiResponse({ status: 200, description: 'Done.', type: DrainResponse })
  @HttpCode(200)
  begin(@CurrentActor() by: Actor): Promise<DrainResponse> {
    return this.record(by, 'drain server', true);
  }

  /** @throws LeafError `LEAF_NOT_READY` when the server is stopping */
  @Delete('drain')
  @ApiOperation({ operationId: 'undoDrain', summary: 'Ends a drain' })
  @ApiResponse({ status: 200, description: 'Done.', type: DrainResponse })
  @ApiProblems('LEAF_NOT_READY')
  undo(@CurrentActor() by: Actor): Promise<DrainResponse> {
    return this.record(by, 'undo drain of server', false);
  }

  private async record(by: Actor, what: string, draining: boolean): Promise<DrainResponse> {
    const { after } = await this.audit.record(by, what, undefined, async () => {
      const before = this.state();
      await broadcast(this.bus, DRAIN_ORDER, draining);
      return { before, after: this.state() };
    });
    return after;
  }

  private state(): DrainResponse {
    return { draining: this.drain.active };
  }
}
