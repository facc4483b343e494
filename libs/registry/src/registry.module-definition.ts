import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { WorkerRegistryOptions } from '@leaf-ids/core/internal';
import type { RegistryOptions } from './strategies/strategies';

/** A strategy and the options of its leases. */
export interface RegistryModuleOptions extends Omit<WorkerRegistryOptions, 'name' | 'remembers'> {
  readonly registry: RegistryOptions;
}

/**
 * Undefined options disable the registry, so that an application can decide at startup. Transient: Nest 10 takes modules
 * for the same one when their functions have the same source text.
 */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<
  RegistryModuleOptions | undefined
>({ alwaysTransient: true })
  .setClassMethodName('forRoot')
  .build();
