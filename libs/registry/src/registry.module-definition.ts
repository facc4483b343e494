import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { WorkerRegistry } from '@leaf/core';

/** Where worker IDs come from. */
export type RegistryModuleOptions =
  | {
      readonly strategy: 'local';
      /** `ip:port` → worker ID; `*` stands for any instance. */
      readonly workers: Readonly<Record<string, number>>;
      /** Where the records are kept. */
      readonly directory: string;
    }
  | {
      readonly strategy: 'custom';
      readonly registry: WorkerRegistry;
    };

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<RegistryModuleOptions>()
  .setClassMethodName('forRoot')
  .build();
