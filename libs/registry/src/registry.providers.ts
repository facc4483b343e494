import type { FactoryProvider } from '@nestjs/common';
import { WorkerRegistry } from '@leaf/core';
import { LocalWorkerRegistry } from './local/local-worker-registry';
import { MODULE_OPTIONS_TOKEN, type RegistryModuleOptions } from './registry.module-definition';

/** The one place that knows every strategy. */
function createRegistry(options: RegistryModuleOptions): WorkerRegistry {
  switch (options.strategy) {
    case 'local':
      return new LocalWorkerRegistry(options.workers, options.directory);
    case 'custom':
      return options.registry;
  }
}

export const registryProvider: FactoryProvider<WorkerRegistry> = {
  provide: WorkerRegistry,
  useFactory: createRegistry,
  inject: [MODULE_OPTIONS_TOKEN],
};
