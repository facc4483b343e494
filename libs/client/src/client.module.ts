import { Module } from '@nestjs/common';
import { IdService } from '@leaf-ids/core';
import { ClientLifecycle } from './client-lifecycle';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './client.module-definition';
import type { LeafClientOptions } from './client-options';
import { LeafClient } from './leaf-client';
import { loggingEvents } from './logging-events';

/**
 * `IdService` over HTTP for a Nest application.
 *
 * @example
 * imports: [LeafClientModule.forRoot({ servers: ['http://10.0.0.5:8080'], preload: { snowflake: true } })]
 */
@Module({
  providers: [
    {
      provide: LeafClient,
      useFactory: (options: LeafClientOptions) =>
        new LeafClient({ ...options, events: { ...loggingEvents(), ...options.events } }),
      inject: [MODULE_OPTIONS_TOKEN],
    },
    { provide: IdService, useExisting: LeafClient },
    ClientLifecycle,
  ],
  exports: [IdService, LeafClient],
})
export class LeafClientModule extends ConfigurableModuleClass {}
