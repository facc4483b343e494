import type { LeafServerAddress } from '@leaf-ids/client';
import { LeafClientModule } from '@leaf-ids/client/nest';
import { type DynamicModule, Module } from '@nestjs/common';
import { ORDER_TAG, OrdersController } from './orders.controller';

export interface Settings {
  readonly servers: readonly LeafServerAddress[];
  /** Where this application is: servers of the same zone come first. */
  readonly zone: string;
}

@Module({})
export class AppModule {
  static forRoot({ servers, zone }: Settings): DynamicModule {
    return {
      module: AppModule,
      imports: [LeafClientModule.forRoot({ servers, zone, preload: { tags: [ORDER_TAG], snowflake: true } })],
      controllers: [OrdersController],
    };
  }
}
