import type { Logger } from '@nestjs/common';
import { DEFAULT_FAILOVER_GAP_STEPS, type FailoverOptions } from '../failover/failover-guard';
import type { CommonOptions } from './persistence.module-definition';

/** Maps the options of the module to those of the guard, which logs a warning at a failover. */
export function failoverOptions({ failoverGapSteps, maxStep }: CommonOptions, logger: Logger): FailoverOptions {
  return {
    gapSteps: failoverGapSteps ?? DEFAULT_FAILOVER_GAP_STEPS,
    ...(maxStep === undefined ? {} : { maxStep }),
    onFailover: (message) => logger.warn(message),
  };
}
