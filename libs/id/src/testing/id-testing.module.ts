import { randomUUID } from 'node:crypto';
import { type DynamicModule, Module } from '@nestjs/common';
import { IdService } from '@leaf-ids/core';
import { InMemoryIdService, type InMemoryIdServiceOptions } from '@leaf-ids/core/testing';

export interface IdTestingModuleOptions extends InMemoryIdServiceOptions {
  /** Export `IdService` to every module of the application; false by default. */
  readonly isGlobal?: boolean;
}

/**
 * `IdModule` for tests: `IdService` is an {@link InMemoryIdService}, which is also available as such. It opens nothing.
 *
 * @example
 * const app = await Test.createTestingModule({
 *   imports: [IdTestingModule.forRoot({ tags: ['order'] })],
 *   providers: [OrderService],
 * }).compile();
 */
@Module({})
export class IdTestingModule {
  static forRoot({ isGlobal = false, ...options }: IdTestingModuleOptions = {}): DynamicModule {
    return {
      module: IdTestingModule,
      global: isGlobal,
      providers: [
        { provide: InMemoryIdService, useFactory: () => new InMemoryIdService(options) },
        { provide: IdService, useExisting: InMemoryIdService },
        // Nest 10 takes modules for the same one when their functions have the same source text.
        { provide: randomUUID(), useValue: true },
      ],
      exports: [InMemoryIdService, IdService],
    };
  }
}
