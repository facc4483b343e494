import { ConfigurableModuleBuilder } from '@nestjs/common';

export interface PersistenceModuleOptions {
  /** `sqlite:<file>`. */
  readonly url: string;
  /** Bring the schema up to date at start. */
  readonly migrate: boolean;
}

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<PersistenceModuleOptions>().setClassMethodName('forRoot').build();
