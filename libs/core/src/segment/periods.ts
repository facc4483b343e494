import { LeafError } from '../errors/leaf-error';
import type { IdRange } from './id-range';
import type { TagReset } from './tag-settings';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A local day begins less than this before or after the day of UTC. */
const ZONE_MS = DAY_MS;
/** Clocks of servers and of the database may differ by so much before a period is refused. */
const CLOCKS_MS = DAY_MS;
/** The year 10000 has five digits. */
const END = Date.UTC(10_000, 0, 1);

/** What separates the tag and the period in the name of a row; no tag has this character. */
const SEPARATOR = '@';

/** How far from now a moment may lie, in milliseconds. */
export const PERIOD_BOUNDS: Readonly<Record<TagReset, { readonly aheadMs: number; readonly backMs: number }>> = {
  daily: { aheadMs: 2 * DAY_MS, backMs: 400 * DAY_MS },
  monthly: { aheadMs: 7 * DAY_MS, backMs: 24 * 31 * DAY_MS },
  yearly: { aheadMs: 7 * DAY_MS, backMs: 10 * 366 * DAY_MS },
};

interface Shape {
  readonly pattern: RegExp;
  /** Characters of the name of a period. */
  readonly length: number;
  /** Days of the longest one. */
  readonly days: number;
}

/** Characters of the longest name. */
export const MAX_PERIOD = 10;

export const PERIOD_SHAPES: Readonly<Record<TagReset, Shape>> = {
  daily: { pattern: /^(\d{4})-(\d{2})-(\d{2})$/, length: 10, days: 1 },
  monthly: { pattern: /^(\d{4})-(\d{2})$/, length: 7, days: 31 },
  yearly: { pattern: /^(\d{4})$/, length: 4, days: 366 },
};

/** A day, month or year, and when its numbers may be given: wide enough for any zone, and for clocks that differ by a day. */
export interface Period {
  /** `2026-11-22`, `2026-11` or `2026`. */
  readonly name: string;
  /** Before this moment no server gives a number of it, in Unix milliseconds. */
  readonly opensAt: number;
  /** After this moment no server gives a number of it, in Unix milliseconds. */
  readonly closesAt: number;
}

/** Numbers of one period: they are unique together with its name only. */
export interface PeriodRanges {
  /** `2026-11-22`, `2026-11` or `2026`. */
  readonly period: string;
  /** Ascending. */
  readonly ranges: readonly IdRange[];
}

/**
 * The days, months or years of an IANA zone. A moment belongs to the day that the wall clocks of the zone show, so that
 * a day may have 23 or 25 hours, and a zone that crosses the date line skips or repeats one.
 */
export class PeriodCalendar {
  private readonly formatter: Intl.DateTimeFormat;
  /** Minute of {@link newest}. Offsets of zones change on whole minutes. */
  private minute = NaN;
  private newest = '';

  /** @throws RangeError when there is no such zone */
  constructor(
    readonly reset: TagReset,
    readonly zone: string,
  ) {
    this.formatter = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
  }

  /**
   * The name of the period that `at` belongs to.
   *
   * @param at Unix milliseconds, of the years 1970 to 9999
   * @throws LeafError `LEAF_PERIOD_INVALID`
   */
  nameAt(at: number): string {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute === this.minute) return this.newest;
    if (!(at >= 0 && at < END - ZONE_MS)) throw invalidPeriod('the date must be within the years 1970 to 9999');
    const name = this.dayAt(at).slice(0, PERIOD_SHAPES[this.reset].length);
    this.minute = minute;
    this.newest = name;
    return name;
  }

  private dayAt(at: number): string {
    const parts = new Map(this.formatter.formatToParts(at).map(({ type, value }) => [type, value]));
    const { year = '', month = '', day = '' } = Object.fromEntries(parts);
    return `${year.padStart(4, '0')}-${month}-${day}`;
  }
}

/**
 * @param name as {@link PeriodCalendar.nameAt} gives it
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function periodOf(reset: TagReset, name: string): Period {
  const { pattern, days } = PERIOD_SHAPES[reset];
  const parts = pattern.exec(name);
  if (parts === null) throw invalidPeriod(`${JSON.stringify(name)} is not a ${reset} period`);
  const [year = 0, month = 1, day = 1] = parts.slice(1).map(Number);
  const from = Date.UTC(year, month - 1, day);
  if (!new Date(from).toISOString().startsWith(name)) {
    throw invalidPeriod(`${JSON.stringify(name)} is not in the calendar`);
  }
  const { aheadMs, backMs } = PERIOD_BOUNDS[reset];
  return {
    name,
    opensAt: from - ZONE_MS - aheadMs - CLOCKS_MS,
    closesAt: from + days * DAY_MS + ZONE_MS + backMs + CLOCKS_MS,
  };
}

/**
 * Keeps callers from filling the table with periods that nobody needs.
 *
 * @param at Unix milliseconds
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function assertNear(at: number, now: number, reset: TagReset): void {
  const { aheadMs, backMs } = PERIOD_BOUNDS[reset];
  if (at >= now - backMs && at <= now + aheadMs) return;
  throw invalidPeriod(
    `the date must be at most ${backMs / DAY_MS} days past and ${aheadMs / DAY_MS} days ahead for a ${reset} tag; by the clock of this server it is ${new Date(now).toISOString()}`,
  );
}

/** The name of the row that a period of a tag has. */
export function periodRow(tag: string, period: string): string {
  return `${tag}${SEPARATOR}${period}`;
}

/** The tag of a row: of the row of a period, the tag that it is a period of. */
export function tagOfRow(row: string): string {
  const end = row.indexOf(SEPARATOR);
  return end < 0 ? row : row.slice(0, end);
}

export function invalidPeriod(problem: string): LeafError {
  return new LeafError('LEAF_PERIOD_INVALID', `No number of this period can be given: ${problem}.`);
}
