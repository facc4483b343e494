import { type DynamicModule, Module } from '@nestjs/common';
import { ServerStatus } from './server-status';
import { SharedState } from './shared-state';
import { WorkerBus } from './worker-bus';

/** The processes that are one server with this one, for every module. */
@Module({})
export class ClusterModule {
  static forRoot(bus: WorkerBus): DynamicModule {
    return {
      module: ClusterModule,
      global: true,
      providers: [{ provide: WorkerBus, useValue: bus }, ServerStatus, SharedState],
      exports: [WorkerBus, ServerStatus],
    };
  }
}
