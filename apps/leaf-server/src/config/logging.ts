import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { LeafConfig } from './leaf-config';

const LEVELS: Record<LeafConfig['log']['level'], LogLevel[]> = {
  error: ['error', 'fatal'],
  warn: ['error', 'fatal', 'warn'],
  info: ['error', 'fatal', 'warn', 'log'],
  debug: ['error', 'fatal', 'warn', 'log', 'debug', 'verbose'],
};

/** Contexts of the framework that tell how it is wired, not how the service is. */
const WIRING = new Set(['NestFactory', 'NestApplication', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer']);
/** Where the framework reports a failed start: `main` says the same in one line. */
const START_FAULTS = new Set<unknown>(['ExceptionHandler', 'NestApplication']);

/** What ends a line, moves the cursor or turns text around: in a log it can show lines that nobody wrote. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The text with what cannot be seen written out, as `\u001b`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Logs to standard output, in colour for people or one JSON object a line for machines. */
export class LeafLogger extends ConsoleLogger {
  /** @param process which of several processes writes; undefined: there is one only, or it is the one above them */
  constructor(
    { level, format }: LeafConfig['log'],
    private readonly process?: number,
  ) {
    const prefix = process === undefined ? 'Leaf' : `Leaf ${process}`;
    super({ json: format === 'json', colors: format === 'pretty', logLevels: LEVELS[level], prefix });
  }

  override log(message: unknown, ...rest: unknown[]): void {
    const context: unknown = rest.at(-1);
    if (typeof context === 'string' && WIRING.has(context)) super.debug(message, ...(rest as [string]));
    else super.log(message, ...(rest as [string]));
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (!START_FAULTS.has(rest.at(-1))) super.error(message, ...(rest as [string]));
  }

  protected override getJsonLogObject(
    ...line: Parameters<ConsoleLogger['getJsonLogObject']>
  ): ReturnType<ConsoleLogger['getJsonLogObject']> {
    const { level, ...rest } = super.getJsonLogObject(...line);
    return this.process === undefined ? { level, ...rest } : { level, process: this.process, ...rest };
  }

  protected override printMessages(messages: unknown[], ...rest: unknown[]): void {
    const shown = messages.map((message) => (typeof message === 'string' ? visible(message) : message));
    super.printMessages(shown, ...(rest as [string]));
  }

  protected override printStackTrace(stack: string): void {
    // Nothing for a message without one.
    if (stack) super.printStackTrace(stack.split('\n').map(visible).join('\n    '));
  }
}
