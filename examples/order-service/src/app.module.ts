import { IdModule } from '@leaf-ids/id';
import { LeafIdSubscriber } from '@leaf-ids/orm';
import { type DynamicModule, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { HealthController } from './health.controller';
import { Order } from './order.entity';
import { OrderLine } from './order-line.entity';
import { createOrderNumbers } from './order-numbers';
import { ORDER_NUMBERS, OrdersController } from './orders.controller';

export interface Settings {
  /** `mysql://user:password@host/database` */
  readonly databaseUrl: string;
  /** Secret of the order numbers. */
  readonly orderKey: string;
}

@Module({})
export class AppModule {
  static forRoot({ databaseUrl, orderKey }: Settings): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({ type: 'mysql', url: databaseUrl, entities: [Order, OrderLine], synchronize: true }),
        TypeOrmModule.forFeature([Order]),
        IdModule.forRoot({
          database: { dataSource: DataSource },
          tags: ['order'],
          snowflake: {},
        }),
        TerminusModule.forRoot({ logger: false }),
      ],
      controllers: [OrdersController, HealthController],
      providers: [
        LeafIdSubscriber,
        { provide: ORDER_NUMBERS, useFactory: () => createOrderNumbers(Buffer.from(orderKey)) },
      ],
    };
  }
}
