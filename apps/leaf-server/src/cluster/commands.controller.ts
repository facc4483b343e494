import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { type Actor, CurrentActor } from '../admin/audit';
import { AdminOnly } from '../admin/admin.guard';
import { BodyPipe } from '../http/responses/body.pipe';
import { ApiJsonBody, ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import type * as Bodies from './command-body';
import { ClusterCommands } from './commands';
import { CommandAnswer } from './views';

const commandBody = async (): Promise<typeof Bodies.CommandBody> => (await import('./command-body.js')).CommandBody;

/** A signature with the cluster token does not open this route, so that a command is passed on once. */
@Controller('api/cluster/orders')
@ApiTags('The cluster')
@AdminOnly()
export class CommandsController {
  constructor(private readonly commands: ClusterCommands) {}

  @Post()
  @ApiOperation({
    operationId: 'orderCluster',
    summary: 'Gives a command to several servers',
    description:
      'Each server gets it through its own admin route, signed with the cluster token. The response tells the result of each; it is 200 even if some failed.',
  })
  @ApiJsonBody(commandBody)
  @ApiResponse({ status: 200, description: 'The result of each server.', type: CommandAnswer })
  @HttpCode(200)
  give(@CurrentActor() by: Actor, @Body(new BodyPipe(commandBody)) body: Bodies.CommandBody): Promise<CommandAnswer> {
    return this.commands.give(by, body);
  }
}
