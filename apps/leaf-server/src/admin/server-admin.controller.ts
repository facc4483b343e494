import { Controller, Delete, HttpCode, Injectable, Post } from '@nestjs/common';
import { broadcast, BusRequest, ProcessBus } from '../processes/process-bus';
import { Drain } from '../lifecycle/drain';
import { ApiOperation, ApiProperty, ApiResponse, ApiSchema, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { type Actor, Audit, CurrentActor } from './audit';
import { AdminOnly, ClusterCommand } from './admin.guard';

/** True begins a drain, false ends it. */
const DRAIN_COMMAND = new BusRequest<boolean, void>('drain');

/** Drains this server, all of its processes. */
@Injectable()
export class ServerAdmin {
  constructor(
    private readonly drain: Drain,
    private readonly audit: Audit,
    private readonly bus: ProcessBus,
  ) {
    bus.serve(DRAIN_COMMAND, (begin) => (begin ? drain.begin() : drain.undo()));
  }

  /** @throws LeafError `LEAF_NOT_READY` if a drain is undone while the server stops, or if a process fails */
  async setDraining(by: Actor, draining: boolean): Promise<{ readonly draining: boolean }> {
    const what = draining ? 'drain server' : 'undo drain of server';
    const { after } = await this.audit.record(by, what, undefined, async () => {
      const before = this.state();
      await broadcast(this.bus, DRAIN_COMMAND, draining);
      return { before, after: this.state() };
    });
    return after;
  }

  private state(): { readonly draining: boolean } {
    return { draining: this.drain.active };
  }
}

@ApiSchema({ name: 'Drain' })
class DrainResponse {
  @ApiProperty({ description: 'Whether the server wants no more requests.' })
  readonly draining!: boolean;
}

/** This server, not those beside it. Every route here needs a token. */
@Controller('api/server')
@ApiTags('This server')
@AdminOnly()
export class ServerAdminController {
  constructor(private readonly server: ServerAdmin) {}

  @Post('drain')
  @ClusterCommand()
  @ApiOperation({
    operationId: 'drain',
    summary: 'Lets load balancers look elsewhere',
    description:
      '`/health/ready` turns 503 while IDs are still served, each on a connection that ends with its answer.',
  })
  @ApiResponse({ status: 200, description: 'Done.', type: DrainResponse })
  @HttpCode(200)
  begin(@CurrentActor() by: Actor): Promise<DrainResponse> {
    return this.server.setDraining(by, true);
  }

  /** @throws LeafError `LEAF_NOT_READY` when the server is stopping */
  @Delete('drain')
  @ClusterCommand()
  @ApiOperation({ operationId: 'undoDrain', summary: 'Ends a drain' })
  @ApiResponse({ status: 200, description: 'Done.', type: DrainResponse })
  @ApiProblems('LEAF_NOT_READY')
  undo(@CurrentActor() by: Actor): Promise<DrainResponse> {
    return this.server.setDraining(by, false);
  }
}
