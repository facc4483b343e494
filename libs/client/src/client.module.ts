import {
  ConfigurableModuleBuilder,
  Injectable,
  Logger,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { IdService } from '@leaf-ids/core';
import { flag, reasonOf, refuseFaults } from '@leaf-ids/core/internal';
import type { LeafClientEvents, LeafClientOptions } from './client-options';
import { LeafClient } from './leaf-client';

/** Prefetches at the start, and closes the client at shutdown, after the application has stopped serving requests. */
@Injectable()
class ClientLifecycle implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('LeafClient');

  constructor(
    private readonly client: LeafClient,
    private readonly ids: IdService,
  ) {}

  /**
   * Sends no request if a test overrides the provider `IdService`. A failure does not stop the application: the Leaf
   * servers may come up later.
   */
  async onModuleInit(): Promise<void> {
    if (this.ids !== this.client) return;
    try {
      await this.client.ready();
    } catch (error) {
      this.logger.warn(`The preload is incomplete; the remaining IDs are fetched on first use: ${reasonOf(error)}`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const { tags, snowflakes } = await this.client.close();
    const dropped = [...tags].map(([tag, count]) => `${count} of ${tag}`);
    if (snowflakes > 0) dropped.push(`${snowflakes} snowflake IDs`);
    if (dropped.length > 0) this.logger.log(`Closed; unused prefetched IDs: ${dropped.join(', ')}.`);
  }
}

/** The options of the Nest module itself. */
interface LeafClientModuleExtras {
  /** Whether other modules can inject `IdService` without importing this one; false by default. */
  readonly isGlobal?: boolean;
}

/** Transient: Nest 10 takes modules for the same one when their functions have the same source text. */
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<LeafClientOptions>({
  alwaysTransient: true,
})
  .setClassMethodName('forRoot')
  .setExtras<LeafClientModuleExtras>({ isGlobal: false }, (definition, { isGlobal = false }) => {
    refuseFaults('LeafClientModule', flag(isGlobal, 'isGlobal'));
    return { ...definition, global: isGlobal };
  })
  .build();

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

/** Logs the events that operators need. */
function loggingEvents(): Omit<LeafClientEvents, 'onLoad' | 'onExpired'> {
  const logger = new Logger('LeafClient');
  return {
    onServerEjected: (url, error, forMs) => {
      logger.warn(`${url} failed and gets no requests for ${Math.round(forMs)} ms: ${reasonOf(error)}`);
    },
    onServerReadmitted: (url) => logger.log(`${url} responds again.`),
    onLoadFailed: (what, error) => logger.warn(`Failed to prefetch IDs of ${what}; retrying: ${reasonOf(error)}`),
    onWindowAcquired: (workerId) => logger.log(`Issues snowflake IDs as worker ${workerId}.`),
    onWindowLost: (workerId, error) => {
      logger.warn(`Worker ${workerId} is no longer held; acquiring another worker ID: ${reasonOf(error)}`);
    },
    onWindowFailed: (error) => logger.warn(`A request for the worker ID failed: ${reasonOf(error)}`),
  };
}
