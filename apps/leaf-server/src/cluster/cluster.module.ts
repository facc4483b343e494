import { type DynamicModule, Module } from '@nestjs/common';
import { SharedState } from './shared-state';
import { Siblings } from './siblings';

/** The processes that are one server with this one, for every module. */
@Module({})
export class ClusterModule {
  static forRoot(siblings: Siblings): DynamicModule {
    return {
      module: ClusterModule,
      global: true,
      providers: [{ provide: Siblings, useValue: siblings }, SharedState],
      exports: [Siblings],
    };
  }
}
