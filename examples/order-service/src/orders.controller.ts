import { type IdFormat, isLeafError } from '@leaf-ids/core';
import { BadRequestException, Body, Controller, Get, Inject, NotFoundException, Param, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Order } from './order.entity';

export const ORDER_NUMBERS = Symbol('order numbers');

interface NewOrder {
  readonly customer: string;
  readonly articles: string[];
}

interface OrderAnswer {
  readonly number: string;
  readonly customer: string;
  readonly lines: { readonly id: string; readonly article: string }[];
}

@Controller('orders')
export class OrdersController {
  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    @Inject(ORDER_NUMBERS) private readonly numbers: IdFormat,
  ) {}

  /** One transaction: the order and its lines, with keys from Leaf. */
  @Post()
  async create(@Body() { customer, articles }: NewOrder): Promise<OrderAnswer> {
    const lines = articles.map((article) => ({ article }));
    return this.answer(await this.orders.save(this.orders.create({ customer, lines })));
  }

  @Get(':number')
  async find(@Param('number') number: string): Promise<OrderAnswer> {
    const id = String(this.parse(number));
    const order = await this.orders.findOne({
      where: { id },
      relations: { lines: true },
      order: { lines: { id: 'ASC' } },
    });
    if (order === null) throw new NotFoundException(`There is no order ${number}.`);
    return this.answer(order);
  }

  private parse(number: string): bigint {
    try {
      return this.numbers.parse(number);
    } catch (error) {
      if (isLeafError(error)) throw new BadRequestException(error.message);
      throw error;
    }
  }

  /** JSON has no 64-bit numbers: IDs leave as text. */
  private answer({ id, customer, lines }: Order): OrderAnswer {
    return {
      number: this.numbers.format(BigInt(id)),
      customer,
      lines: lines.map((line) => ({ id: String(line.id), article: line.article })),
    };
  }
}
