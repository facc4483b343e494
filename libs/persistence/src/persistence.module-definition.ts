import { ConfigurableModuleBuilder } from '@nestjs/common';

export interface PersistenceModuleOptions {
  /** As `parseDatabaseUrl` reads it. */
  readonly url: string;
  /** Bring the schema up to date at start. */
  readonly migrate: boolean;
  /** Steps by which every tag moves forward when a promoted replica is noticed; 10 by default, 0 is off. */
  readonly failoverGapSteps?: number;
}

export const DEFAULT_FAILOVER_GAP_STEPS = 10;

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<PersistenceModuleOptions>().setClassMethodName('forRoot').build();
