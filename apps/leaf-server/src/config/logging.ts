import { inspect, styleText } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { visible, visibleLines } from '@leaf-ids/core/internal';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import type { LogConfig } from './leaf-config';
import { withVariables } from './variables';

/** A stream that accepts no data keeps at most this much of the log in memory, in bytes. */
const MAX_BUFFERED = 1_048_576;

/** Writes log lines to a stream. A line that cannot be written is dropped and counted: logging never ends the server. */
export class LogOutput {
  /** Lines that could not be written: the reader has gone, or the disk is full. */
  dropped = 0;

  constructor(private readonly stream: NodeJS.WriteStream) {
    // Without a listener, the first failed write would end the process. One is enough for all outputs of the stream.
    if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
  }

  write(lines: string): void {
    if (this.stream.writableLength > MAX_BUFFERED) {
      this.dropped++;
      return;
    }
    this.stream.write(lines, (error) => {
      if (error) this.dropped++;
    });
  }
}

/** Escapes the invisible characters of every string of plain data. */
function visibleFields(fields: object): object {
  return JSON.parse(
    JSON.stringify(fields, (_name, value: unknown) => {
      if (typeof value === 'bigint') return String(value);
      return typeof value === 'string' ? visible(value) : value;
    }),
  ) as object;
}

/** A line of the log as pino writes it. */
interface LogLine {
  readonly level: string;
  readonly time: string | number;
  readonly pid: number;
  readonly process?: number;
  readonly context?: string;
  readonly message: string;
  readonly stack?: string;
}

const COLOURS: Readonly<Record<string, 'red' | 'yellow' | 'green' | 'magenta'>> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
};

/** A line of JSON as text for people: fields follow the message, and a stack is indented below it. */
function prettyLine(json: string): string {
  const { level, time, pid, process, context, message, stack, ...fields } = JSON.parse(json) as LogLine;
  const origin = process === undefined ? `[Leaf] ${pid}` : `[Leaf ${process}] ${pid}`;
  const name = styleText(COLOURS[level] ?? 'magenta', level.toUpperCase().padStart(5));
  const parts = [`${origin} - ${time}`, name];
  if (context !== undefined) parts.push(styleText('yellow', `[${context}]`));
  parts.push(message);
  if (Object.keys(fields).length > 0) parts.push(JSON.stringify(fields));
  const below = stack === undefined ? '' : `${stack.replaceAll('\n', '\n    ')}\n`;
  return `${parts.join(' ')}\n${below}`;
}

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
