import { type DynamicModule, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Clock } from '@leaf-ids/core';
import { Drain } from './drain';
import { Readiness } from './readiness';

/**
 * The clock, the drain and the readiness of this process, for every module, together with the ID modules that readiness
 * depends on. Importing them here puts them below all feature modules: at a stop, those end first.
 */
@Module({})
export class LifecycleModule {
  static forRoot(clock: Clock, drain: Drain, ids: DynamicModule): DynamicModule {
    const health = TerminusModule.forRoot({ logger: false });
    return {
      module: LifecycleModule,
      global: true,
      imports: [health, ids],
      providers: [{ provide: Clock, useValue: clock }, { provide: Drain, useValue: drain }, Readiness],
      exports: [Clock, Drain, Readiness, health, ids],
    };
  }
}
