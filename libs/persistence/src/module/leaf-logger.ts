import { Logger } from '@nestjs/common';
import { having } from '@leaf-ids/core/internal';

/** What Leaf calls of a logger, such as a `LoggerService` of Nest. */
export interface LeafLogger {
  log(message: string, context?: string): void;
  warn(message: string, context?: string): void;
  error(message: string, context?: string): void;
}

export interface LoggerOption {
  /** Receives the logs, with their context as the last argument; by default the `Logger` of Nest. */
  readonly logger?: LeafLogger;
}

export const loggerRule = having('warn', 'a LoggerService of Nest');

/** Logs as `context`. */
export function loggerOf({ logger }: { readonly logger?: LeafLogger | undefined }, context: string): LeafLogger {
  if (logger === undefined) return new Logger(context);
  return {
    log: (message) => logger.log(message, context),
    warn: (message) => logger.warn(message, context),
    error: (message) => logger.error(message, context),
  };
}
