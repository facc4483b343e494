import { type DynamicModule, Module } from '@nestjs/common';
import { ServerStatus } from './merge-status';
import { SharedState } from './shared-state';
import { ProcessBus } from './process-bus';

/** The processes that are one server with this one, for every module. */
@Module({})
export class ProcessesModule {
  static forRoot(bus: ProcessBus): DynamicModule {
    return {
      module: ProcessesModule,
      global: true,
      providers: [{ provide: ProcessBus, useValue: bus }, ServerStatus, SharedState],
      exports: [ProcessBus, ServerStatus],
    };
  }
}
