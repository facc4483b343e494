import { IdService } from '@leaf-ids/core';
import { Controller, Post } from '@nestjs/common';

export const ORDER_TAG = 'order';

/** JSON has no 64-bit numbers: IDs leave as text. */
interface OrderAnswer {
  readonly id: string;
  readonly events: string[];
}

@Controller('orders')
export class OrdersController {
  constructor(private readonly ids: IdService) {}

  /** Normally no server is asked: both kinds are at hand. */
  @Post()
  async create(): Promise<OrderAnswer> {
    const [id, events] = await Promise.all([this.ids.nextIdString(ORDER_TAG), this.ids.snowflakeStrings(1)]);
    return { id, events };
  }
}
