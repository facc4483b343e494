import { type IdRange, MAX_ID, type PeriodRanges, sizeOf } from '@leaf-ids/core';
import { ServerFault } from '../servers/server-fault';

/** Decimal as a server writes it, so that equal IDs are equal texts; 0 is no ID. */
const DECIMAL = /^[1-9]\d{0,18}$/;
const PERIOD = /^\d{4}(-\d{2}){0,2}$/;
const MAX_TEXT = String(MAX_ID);

export interface RangesAnswer {
  readonly ranges: readonly IdRange[];
  /** The IDs of the tag ascend over all servers: none may be kept for later. */
  readonly strict: boolean;
}

/**
 * What a range answer says.
 *
 * @throws ServerFault unless they are of `tag`, ascend, and hold `count` IDs in all
 */
export function readRanges(body: unknown, tag: string, count: number): RangesAnswer {
  const { tag: answered, order, ranges } = asObject(body);
  if (answered !== tag) throw wrong(`its ranges are not of tag "${tag}"`);
  if (!Array.isArray(ranges)) throw wrong('it has no ranges');
  let total = 0;
  let last = 0n;
  const read = ranges.map((range: unknown): IdRange => {
    const { from, to } = asObject(range);
    if (!isId(from) || !isId(to)) throw wrong('a range has no two decimal IDs');
    const ids = { from: BigInt(from), to: BigInt(to) };
    if (ids.from <= last || ids.to < ids.from) throw wrong('its ranges do not ascend');
    last = ids.to;
    total += sizeOf(ids);
    return ids;
  });
  if (total !== count) throw wrong(`it has ${total} IDs in place of ${count}`);
  return { ranges: read, strict: order === 'strict' };
}

/**
 * The numbers of a period's answer.
 *
 * @throws ServerFault as {@link readRanges}, and unless they have a period
 */
export function readPeriod(body: unknown, tag: string, count: number): PeriodRanges {
  const { period } = asObject(body);
  if (typeof period !== 'string' || !PERIOD.test(period)) throw wrong('it has no period');
  return { period, ranges: readRanges(body, tag, count).ranges };
}

/**
 * The IDs of a batch answer, in decimal.
 *
 * @throws ServerFault unless they are of `key`, ascend, and are `count`
 */
export function readBatch(body: unknown, key: string, count: number): string[] {
  const { key: answered, ids } = asObject(body);
  if (answered !== key) throw wrong(`its IDs are not of key "${key}"`);
  if (!Array.isArray(ids) || ids.length !== count) throw wrong(`it does not have ${count} IDs`);
  let last = '';
  for (const id of ids as unknown[]) {
    if (!isId(id)) throw wrong('an ID is no decimal number in range');
    if (!isBelow(last, id)) throw wrong('its IDs do not ascend');
    last = id;
  }
  return ids as string[];
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && DECIMAL.test(value) && !isBelow(MAX_TEXT, value);
}

/** Of decimal texts without leading zeros. */
function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw wrong('it is not the object that it should be');
  return value as Readonly<Record<string, unknown>>;
}

function wrong(problem: string): ServerFault {
  return new ServerFault(`its answer is refused: ${problem}`);
}
