import { type Clock, type IdRange, LeafError, MAX_ID, type PeriodRanges, sizeOf } from '@leaf-ids/core';
import { isErrorCode, parseProblem, PERIOD_PATTERN } from '@leaf-ids/core/internal';
import { ServerFault } from '../servers/server-health';
import type { HttpAnswer } from './http-connection';

/** Upper limit for `Retry-After`. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Converts a response other than 200: to the `LeafError` of a Leaf server, or else to a fault of the server or of a
 * proxy in front of it.
 */
export function refusalOf(answer: HttpAnswer, clock: Clock): LeafError | ServerFault {
  const { status } = answer;
  const retryAfterMs = status === 503 || status === 429 ? parseRetryAfter(answer.retryAfter, clock) : undefined;
  const problem = parseProblem(answer.contentType, answer.text);
  if (problem === undefined) {
    const hint = status >= 300 && status < 400 ? '; redirects are not followed' : '';
    return new ServerFault(`status ${status} without an error of a Leaf server${hint}`, retryAfterMs);
  }
  const { code, detail } = problem;
  if (isErrorCode(code)) {
    if (code === 'LEAF_INTERNAL') return new ServerFault(`status ${status} ${code}: ${detail}`);
    return new LeafError(code, detail, { status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  const unknown = `The server returned ${status} ${code}, which is unknown to this client: ${detail}`;
  const isFinal = status >= 400 && status < 500 && status !== 429;
  return isFinal ? new LeafError('LEAF_REQUEST_INVALID', unknown) : new ServerFault(unknown, retryAfterMs);
}

/** Parses seconds or a date. */
function parseRetryAfter(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isNaN(ms) ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
}

/** Canonical decimal, so that equal IDs are equal strings; 0 is not an ID. */
const DECIMAL = /^[1-9]\d{0,18}$/;
const MAX_TEXT = String(MAX_ID);

export interface RangesAnswer {
  readonly ranges: readonly IdRange[];
  /** The IDs of the tag ascend over all servers, and must not be buffered. */
  readonly strict: boolean;
}

/**
 * Parses a range response.
 *
 * @throws ServerFault unless the ranges belong to `tag`, ascend, and contain `count` IDs in total
 */
export function readRanges(body: unknown, tag: string, count: number): RangesAnswer {
  const { tag: answered, order, ranges } = asObject(body);
  if (answered !== tag) throw wrong(`its ranges do not belong to tag "${tag}"`);
  if (!Array.isArray(ranges)) throw wrong('it has no ranges');
  let total = 0;
  let last = 0n;
  const read = ranges.map((range: unknown): IdRange => {
    const { from, to } = asObject(range);
    if (!isId(from) || !isId(to)) throw wrong('a range lacks a decimal ID');
    const ids = { from: BigInt(from), to: BigInt(to) };
    if (ids.from <= last || ids.to < ids.from) throw wrong('its ranges do not ascend');
    last = ids.to;
    total += sizeOf(ids);
    return ids;
  });
  if (total !== count) throw wrong(`it has ${total} IDs instead of ${count}`);
  return { ranges: read, strict: order === 'strict' };
}

/**
 * Parses a period response.
 *
 * @throws ServerFault as {@link readRanges}, and for a missing or invalid period
 */
export function readPeriod(body: unknown, tag: string, count: number): PeriodRanges {
  const { period } = asObject(body);
  if (typeof period !== 'string' || !PERIOD_PATTERN.test(period)) throw wrong('it has no period');
  return { period, ranges: readRanges(body, tag, count).ranges };
}

/**
 * Parses a batch response into decimal IDs.
 *
 * @throws ServerFault unless the IDs belong to `key`, ascend, and are `count` in number
 */
export function readBatch(body: unknown, key: string, count: number): string[] {
  const { key: answered, ids } = asObject(body);
  if (answered !== key) throw wrong(`its IDs do not belong to key "${key}"`);
  if (!Array.isArray(ids) || ids.length !== count) throw wrong(`it does not have ${count} IDs`);
  let last = '';
  for (const id of ids as unknown[]) {
    if (!isId(id)) throw wrong('an ID is not a decimal number in range');
    if (!isBelow(last, id)) throw wrong('its IDs do not ascend');
    last = id;
  }
  return ids as string[];
}

export function isId(value: unknown): value is string {
  return typeof value === 'string' && DECIMAL.test(value) && !isBelow(MAX_TEXT, value);
}

/** Compares decimal strings without leading zeros. */
function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw wrong('it contains no JSON object where one is expected');
  return value as Readonly<Record<string, unknown>>;
}

export function wrong(problem: string): ServerFault {
  return new ServerFault(`invalid response: ${problem}`);
}
