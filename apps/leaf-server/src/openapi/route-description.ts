import { Reflector } from '@nestjs/core';
import type { LeafErrorCode } from '@leaf/core';
import { type Schema, text } from './schema';

/** What belongs together, in the order of the documentation. */
export const GROUPS = {
  'Segment IDs': 'Numbers that the database counts for each tag: ascending within one server.',
  'Snowflake IDs': 'Numbers made of clock, worker ID and sequence: roughly ascending by time, without a database.',
  Tags: 'The rows of `leaf_alloc`. Reading needs no token, changing does.',
  'This server': 'Orders to the server that is asked, not to those beside it.',
  Watching: 'Probes, figures and clock.',
  'Java service': 'Routes that users of the Java service have bookmarked.',
  Console: 'The web console: a page that asks the routes above.',
  Documentation: 'This description.',
} as const;

/** An answer that is no fault. */
export interface AnswerDescription {
  readonly description: string;
  /** Left out together with `schema`: no body. */
  readonly type?: string;
  readonly schema?: Schema;
  readonly headers?: Readonly<Record<string, Schema>>;
}

/** What a client has to know of a route. What all routes of a kind answer is added to it, see `commonProblems`. */
export interface RouteDescription {
  /** Name of the operation, unique; generated clients call their function so. */
  readonly id: string;
  readonly group: keyof typeof GROUPS;
  /** A few words; a sentence without its full stop. */
  readonly summary: string;
  /** Markdown. */
  readonly detail?: string;
  readonly path?: Readonly<Record<string, Schema>>;
  /** A parameter with a default is optional. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Optional query parameters whose default no schema can give. */
  readonly optional?: readonly string[];
  /** JSON. */
  readonly body?: Schema;
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  readonly problems?: readonly LeafErrorCode[];
}

/**
 * Describes a route for the document of OpenAPI. A test fails for a route without one, and checks every answer against it.
 *
 * @example
 * ```ts
 * @Get('time')
 * @Describe({
 *   id: 'time',
 *   group: 'Watching',
 *   summary: 'The clock of this server',
 *   answers: { 200: json(object<TimeResponse>('Time', { now: wholeNumber('Unix milliseconds.') })) },
 * })
 * ```
 */
export const Describe = Reflector.createDecorator<RouteDescription>();

/** Marks a controller whose routes need a token; the guard that checks it stands beside it. */
export const NeedsToken = Reflector.createDecorator<true>();

export function json(schema: Schema, description = 'Done.'): AnswerDescription {
  return { description, type: 'application/json', schema };
}

export function plainText(schema: Schema, description: string): AnswerDescription {
  return { description, type: 'text/plain', schema };
}

export function htmlPage(description = 'The page.'): AnswerDescription {
  return { description, type: 'text/html', schema: text('HTML.', '<!doctype html>…') };
}
