import { Logger } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core/internal';
import type { LeafClientEvents } from './client-events';

/** Logs the events that operators need. */
export function loggingEvents(): Omit<LeafClientEvents, 'onLoad' | 'onExpired'> {
  const logger = new Logger('LeafClient');
  return {
    onServerEjected: (url, error, forMs) => {
      logger.warn(`${url} failed and gets no requests for ${Math.round(forMs)} ms: ${reasonOf(error)}`);
    },
    onServerReadmitted: (url) => logger.log(`${url} responds again.`),
    onLoadFailed: (what, error) => logger.warn(`Failed to prefetch IDs of ${what}; retrying: ${reasonOf(error)}`),
    onWindowAcquired: (workerId) => logger.log(`Issues snowflake IDs as worker ${workerId}.`),
    onWindowLost: (workerId, error) => {
      logger.warn(`Worker ${workerId} is no longer held; acquiring another worker ID: ${reasonOf(error)}`);
    },
    onWindowFailed: (error) => logger.warn(`A request for the worker ID failed: ${reasonOf(error)}`),
  };
}
