import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { type Actor, CurrentActor } from '../admin/audit';
import { AdminOnly } from '../admin/admin.guard';
import { BodyPipe } from '../http/responses/body.pipe';
import { ApiJsonBody, ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import type * as Bodies from './order-body';
import { ClusterOrders } from './orders';
import { OrderAnswer } from './views';

const orderBody = async (): Promise<typeof Bodies.OrderBody> => (await import('./order-body.js')).OrderBody;

/** A signature with the cluster token does not open this route, so that an order is passed on once. */
@Controller('api/cluster/orders')
@ApiTags('The cluster')
@AdminOnly()
export class OrdersController {
  constructor(private readonly orders: ClusterOrders) {}

  @Post()
  @ApiOperation({
    operationId: 'orderCluster',
    summary: 'Gives an order to several servers',
    description:
      'Each server gets it through its own admin route, signed with the cluster token. The response tells the result of each; it is 200 even if some failed.',
  })
  @ApiJsonBody(orderBody)
  @ApiResponse({ status: 200, description: 'The result of each server.', type: OrderAnswer })
  @HttpCode(200)
  give(@CurrentActor() by: Actor, @Body(new BodyPipe(orderBody)) body: Bodies.OrderBody): Promise<OrderAnswer> {
    return this.orders.give(by, body);
  }
}
