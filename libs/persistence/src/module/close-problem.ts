import type { Logger } from '@nestjs/common';

/** Logs what goes wrong while something is closed. */
export function closeProblem(logger: Logger): (step: string, problem: string) => void {
  return (step, problem) => logger.error(`Stop: ${step}: ${problem}`);
}
