import { Controller, Delete, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, ApiSchema, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { type Actor, CurrentActor } from './audit';
import { AdminOnly, ClusterCommand } from './admin.guard';
import { ServerAdmin } from './server-admin';

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
