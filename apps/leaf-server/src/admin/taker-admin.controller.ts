import { Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { LeafError } from '@leaf-ids/core';
import { TOKEN_NAME } from '../config/tokens';
import { broadcast, BusRequest, ProcessBus } from '../processes/process-bus';
import { ApiOperation, ApiParam, ApiProperty, ApiResponse, ApiSchema, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { TakerAccess } from '../takers/taker-access';
import { type Actor, Audit, CurrentActor } from './audit';
import { AdminOnly } from './admin.guard';

@ApiSchema({ name: 'TakerBlock' })
class BlockResponse {
  @ApiProperty({ description: 'Name of the token.', example: 'billing' })
  readonly taker!: string;

  @ApiProperty({ description: 'Whether the server refuses requests with the token.' })
  readonly blocked!: boolean;
}

const NAME = {
  name: 'name',
  description: 'Name of a token in `LEAF_TAKER_TOKENS`.',
  schema: { type: 'string', pattern: TOKEN_NAME.source, example: 'billing' },
} as const;
const BLOCK_ORDER = new BusRequest<BlockResponse, void>('block taker');

/** Refuses and admits callers that take IDs, on this server until it stops. Every route requires a token. */
@Controller('api/server/takers')
@ApiTags('This server')
@AdminOnly()
export class TakerAdminController {
  constructor(
    private readonly takers: TakerAccess,
    private readonly audit: Audit,
    private readonly bus: ProcessBus,
  ) {
    bus.serve(BLOCK_ORDER, ({ taker, blocked }) => takers.setBlocked(taker, blocked));
  }

  @Post(':name/block')
  @ApiOperation({
    operationId: 'blockTaker',
    summary: 'Refuses requests with a taker token',
    description:
      'Until it is undone or the server stops; remove the token from `LEAF_TAKER_TOKENS` to refuse it for good.',
  })
  @ApiParam(NAME)
  @ApiResponse({ status: 200, description: 'Done.', type: BlockResponse })
  @ApiProblems('LEAF_TAKER_NOT_FOUND', 'LEAF_NOT_READY')
  @HttpCode(200)
  block(@Param('name') name: string, @CurrentActor() by: Actor): Promise<BlockResponse> {
    return this.set(by, 'block taker', { taker: name, blocked: true });
  }

  @Delete(':name/block')
  @ApiOperation({ operationId: 'unblockTaker', summary: 'Admits requests with a taker token again' })
  @ApiParam(NAME)
  @ApiResponse({ status: 200, description: 'Done.', type: BlockResponse })
  @ApiProblems('LEAF_TAKER_NOT_FOUND', 'LEAF_NOT_READY')
  unblock(@Param('name') name: string, @CurrentActor() by: Actor): Promise<BlockResponse> {
    return this.set(by, 'unblock taker', { taker: name, blocked: false });
  }

  private async set(by: Actor, what: string, after: BlockResponse): Promise<BlockResponse> {
    const { taker } = after;
    if (![...this.takers.names, ...this.takers.blockedNames].includes(taker)) {
      throw new LeafError('LEAF_TAKER_NOT_FOUND', 'No token in LEAF_TAKER_TOKENS has this name.');
    }
    await this.audit.record(by, what, undefined, async () => {
      const before = { taker, blocked: this.takers.blockedNames.includes(taker) };
      await broadcast(this.bus, BLOCK_ORDER, after);
      return { before, after };
    });
    return after;
  }
}
