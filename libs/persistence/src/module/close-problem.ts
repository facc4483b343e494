import type { Logger } from '@nestjs/common';

/** Logs problems while resources are closed. */
export function closeProblem(logger: Logger): (step: string, problem: string) => void {
  return (step, problem) => logger.error(`Stop: ${step}: ${problem}`);
}
