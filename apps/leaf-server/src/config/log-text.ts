import { styleText } from 'node:util';
import { visible } from '@leaf-ids/core/internal';

/** Escapes the invisible characters of every string of plain data. */
export function visibleFields(fields: object): object {
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
export function prettyLine(json: string): string {
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
