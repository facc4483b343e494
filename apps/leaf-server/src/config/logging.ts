import { inspect } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { visible, visibleLines } from '@leaf-ids/core/internal';
import { pino, stdTimeFunctions, type Logger } from 'pino';
import type { LogConfig } from './leaf-config';
import { LogOutput } from './log-output';
import { prettyLine, visibleFields } from './log-text';
import { withVariables } from './option-variables';

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug';

/** Contexts in which the framework describes its modules and routes, not the service. */
const WIRING = new Set<unknown>([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);
/** Contexts in which the framework reports a failed start, which `main` reports in one line. */
const START_FAULTS = new Set<unknown>(['ExceptionHandler', 'NestApplication']);

/**
 * The log of the framework, written by pino: one JSON object a line, or text for people. A message is a text, or an
 * object whose `message` is the text and whose other properties become fields of the line.
 */
export class LeafLogger implements LoggerService {
  private readonly pino: Logger;

  /** @param processNumber which of several processes writes; undefined for a single one and for the supervisor */
  constructor(
    { level, format, time }: LogConfig,
    processNumber?: number,
    private readonly output = new LogOutput(process.stdout),
  ) {
    this.pino = pino(
      {
        level,
        base: { pid: process.pid, ...(processNumber !== undefined && { process: processNumber }) },
        messageKey: 'message',
        timestamp: time === 'iso' ? stdTimeFunctions.isoTime : stdTimeFunctions.epochTime,
        formatters: { level: (name) => ({ level: name }) },
      },
      { write: (line: string) => output.write(format === 'json' ? line : prettyLine(line)) },
    );
  }

  /** Lines that could not be written. */
  get dropped(): number {
    return this.output.dropped;
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    if (!START_FAULTS.has(rest.at(-1))) this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** @param rest the context, or a stack and the context */
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    if (!this.pino.isLevelEnabled(level)) return;
    const context = rest.at(-1);
    const stack = rest.length > 1 ? rest[0] : message instanceof Error ? message.stack : undefined;
    this.pino[level]({
      ...(typeof context === 'string' && { context: visible(context) }),
      ...visibleFields(withVariables(isEntry(message) ? message : { message: textOf(message) })),
      ...(typeof stack === 'string' && stack !== '' && { stack: visibleLines(withVariables(stack)) }),
    });
  }
}

function isEntry(message: unknown): message is { readonly message: string } {
  return typeof message === 'object' && message !== null && 'message' in message && !(message instanceof Error);
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  return message instanceof Error ? message.message : inspect(message);
}
