import { ConfigurableModuleBuilder } from '@nestjs/common';
import { flag, refuseFaults } from '@leaf-ids/core/internal';
import type { LeafClientOptions } from './client-options';

/** The options of the Nest module itself. */
export interface LeafClientModuleExtras {
  /** Whether other modules can inject `IdService` without importing this one; false by default. */
  readonly isGlobal?: boolean;
}

/** Transient: Nest 10 takes modules for the same one when their functions have the same source text. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<LeafClientOptions>({
  alwaysTransient: true,
})
  .setClassMethodName('forRoot')
  .setExtras<LeafClientModuleExtras>({ isGlobal: false }, (definition, { isGlobal = false }) => {
    refuseFaults('LeafClientModule', flag(isGlobal, 'isGlobal'));
    return { ...definition, global: isGlobal };
  })
  .build();
