import { Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { LeafError } from '@leaf-ids/core';
import { TOKEN_NAME } from '../config/tokens';
import { broadcast, BusRequest, ProcessBus } from '../processes/process-bus';
import { ApiOperation, ApiParam, ApiProperty, ApiResponse, ApiSchema, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { ClientAccess } from '../clients/client-access';
import { type Actor, Audit, CurrentActor } from './audit';
import { AdminOnly } from './admin.guard';

@ApiSchema({ name: 'ClientBlock' })
class BlockResponse {
  @ApiProperty({ description: 'Name of the token.', example: 'billing' })
  readonly client!: string;

  @ApiProperty({ description: 'Whether the server refuses requests with the token.' })
  readonly blocked!: boolean;
}

const NAME = {
  name: 'name',
  description: 'Name of a token in `LEAF_CLIENT_TOKENS`.',
  schema: { type: 'string', pattern: TOKEN_NAME.source, example: 'billing' },
} as const;
const BLOCK_COMMAND = new BusRequest<BlockResponse, void>('block client');

/** Blocks and unblocks clients on this server until it stops. Every route requires a token. */
@Controller('api/server/clients')
@ApiTags('This server')
@AdminOnly()
export class ClientAdminController {
  constructor(
    private readonly clients: ClientAccess,
    private readonly audit: Audit,
    private readonly bus: ProcessBus,
  ) {
    bus.serve(BLOCK_COMMAND, ({ client, blocked }) => clients.setBlocked(client, blocked));
  }

  @Post(':name/block')
  @ApiOperation({
    operationId: 'blockClient',
    summary: 'Refuses requests with a client token',
    description:
      'Until it is undone or the server stops; remove the token from `LEAF_CLIENT_TOKENS` to refuse it for good.',
  })
  @ApiParam(NAME)
  @ApiResponse({ status: 200, description: 'Done.', type: BlockResponse })
  @ApiProblems('LEAF_CLIENT_NOT_FOUND', 'LEAF_NOT_READY')
  @HttpCode(200)
  block(@Param('name') name: string, @CurrentActor() by: Actor): Promise<BlockResponse> {
    return this.set(by, 'block client', { client: name, blocked: true });
  }

  @Delete(':name/block')
  @ApiOperation({ operationId: 'unblockClient', summary: 'Admits requests with a client token again' })
  @ApiParam(NAME)
  @ApiResponse({ status: 200, description: 'Done.', type: BlockResponse })
  @ApiProblems('LEAF_CLIENT_NOT_FOUND', 'LEAF_NOT_READY')
  unblock(@Param('name') name: string, @CurrentActor() by: Actor): Promise<BlockResponse> {
    return this.set(by, 'unblock client', { client: name, blocked: false });
  }

  private async set(by: Actor, what: string, after: BlockResponse): Promise<BlockResponse> {
    const { client } = after;
    if (![...this.clients.names, ...this.clients.blockedNames].includes(client)) {
      throw new LeafError('LEAF_CLIENT_NOT_FOUND', 'No token in LEAF_CLIENT_TOKENS has this name.');
    }
    await this.audit.record(by, what, undefined, async () => {
      const before = { client, blocked: this.clients.blockedNames.includes(client) };
      await broadcast(this.bus, BLOCK_COMMAND, after);
      return { before, after };
    });
    return after;
  }
}
