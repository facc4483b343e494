import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { LeafConfig } from './config/leaf-config';

const LEVELS: Record<LeafConfig['log']['level'], LogLevel[]> = {
  error: ['error', 'fatal'],
  warn: ['error', 'fatal', 'warn'],
  info: ['error', 'fatal', 'warn', 'log'],
  debug: ['error', 'fatal', 'warn', 'log', 'debug', 'verbose'],
};

/** Contexts of the framework that tell how it is wired, not how the service is. */
const WIRING = new Set(['NestFactory', 'NestApplication', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer']);
/** The framework's report of a failed start: `main` says the same in one line. */
const START_FAULT = 'ExceptionHandler';

/** Logs to standard output, in colour for people or one JSON object a line for machines. */
export class LeafLogger extends ConsoleLogger {
  constructor({ level, format }: LeafConfig['log']) {
    super({ json: format === 'json', colors: format === 'pretty', logLevels: LEVELS[level], prefix: 'Leaf' });
  }

  override log(message: unknown, ...rest: unknown[]): void {
    const context: unknown = rest.at(-1);
    if (typeof context === 'string' && WIRING.has(context)) super.debug(message, ...(rest as [string]));
    else super.log(message, ...(rest as [string]));
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) !== START_FAULT) super.error(message, ...(rest as [string]));
  }
}
