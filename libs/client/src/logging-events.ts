import { Logger } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core';
import type { LeafClientEvents } from './client-events';

/** What operators want to read in the application's log. */
export function loggingEvents(): Pick<LeafClientEvents, 'onServerEjected' | 'onServerReadmitted' | 'onLoadFailed'> {
  const logger = new Logger('LeafClient');
  return {
    onServerEjected: (url, error, forMs) => {
      logger.warn(`${url} is not asked for ${Math.round(forMs)} ms: ${reasonOf(error)}`);
    },
    onServerReadmitted: (url) => logger.log(`${url} answers again.`),
    onLoadFailed: (what, error) => logger.warn(`No new IDs of ${what}, trying on: ${reasonOf(error)}`),
  };
}
