import type { LoggerService } from '@nestjs/common';
import type { Clock } from '@leaf-ids/core';

/** Time in which the application can call `enableShutdownHooks()` before the warning, in milliseconds. */
const GRACE_MS = 5000;

/** Warns if a SIGTERM would end this process without the shutdown hooks of Nest, a while after the start. */
export async function warnWithoutShutdownHooks(
  clock: Clock,
  logger: Pick<LoggerService, 'warn'>,
  stopping: AbortSignal,
): Promise<void> {
  await clock.sleep(GRACE_MS, stopping);
  if (stopping.aborted || process.listenerCount('SIGTERM') > 0) return;
  logger.warn(
    'Nothing in this process handles SIGTERM, so a stop counts as a crash: unused IDs become a gap, and a worker ID stays reserved for up to an hour. Call app.enableShutdownHooks().',
  );
}
