import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  Injectable,
  Module,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { WorkerRegistry } from '@leaf-ids/core';
import { assertOptions } from '@leaf-ids/core/internal';
import { createRegistry } from '@leaf-ids/registry';
import { type RegistryModuleOptions, registryModuleRule, registryOptions } from '../snowflake/snowflake-options';

/**
 * A factory may return undefined to disable the registry. Transient: Nest 10 takes modules for the same one when their
 * functions have the same source text.
 */
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<
  RegistryModuleOptions | undefined
>({ alwaysTransient: true })
  .setClassMethodName('forRoot')
  .build();

@Injectable()
class RegistryLifecycle implements OnApplicationShutdown {
  constructor(@Optional() private readonly registry?: WorkerRegistry) {}

  async onApplicationShutdown(): Promise<void> {
    await this.registry?.close();
  }
}

/** Only a worker registry, without a worker ID of its own: it shows which servers hold which worker IDs. */
@Module({
  providers: [{ provide: WorkerRegistry, useFactory: registryOf, inject: [MODULE_OPTIONS_TOKEN] }, RegistryLifecycle],
  exports: [WorkerRegistry],
})
export class RegistryModule extends ConfigurableModuleClass {
  /** Keeps worker IDs in the registry that the options name. */
  static override forRoot(options: RegistryModuleOptions): DynamicModule {
    return this.forRootAsync({ useFactory: () => options });
  }
}

function registryOf(options?: RegistryModuleOptions): WorkerRegistry | undefined {
  if (options === undefined) return undefined;
  assertOptions('RegistryModule', registryModuleRule, options);
  return createRegistry(registryOptions(options));
}
