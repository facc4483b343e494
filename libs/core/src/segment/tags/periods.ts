import { LeafError } from '../../errors/leaf-error';
import type { IdRange } from './id-range';
import type { TagReset } from './tag-settings';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A local day starts less than this before or after the UTC day. */
const ZONE_MS = DAY_MS;
/** Tolerated offset between the clocks of servers and database. */
const CLOCKS_MS = DAY_MS;
/** The year 10000 would have five digits. */
const END = Date.UTC(10_000, 0, 1);

/** Separates tag and period in the name of a row. Tags cannot contain this character. */
const SEPARATOR = '@';

/** Allowed distance of a timestamp from now, in milliseconds. */
export const PERIOD_BOUNDS: Readonly<Record<TagReset, { readonly aheadMs: number; readonly backMs: number }>> = {
  daily: { aheadMs: 2 * DAY_MS, backMs: 400 * DAY_MS },
  monthly: { aheadMs: 7 * DAY_MS, backMs: 24 * 31 * DAY_MS },
  yearly: { aheadMs: 7 * DAY_MS, backMs: 10 * 366 * DAY_MS },
};

interface Shape {
  /** The name of a period, with a placeholder for each of its parts: `{YYYY}-{MM}`. */
  readonly template: string;
  readonly pattern: RegExp;
  /** Length of a period name, in characters. */
  readonly length: number;
  /** Days of the longest period. */
  readonly days: number;
}

/** Length of the longest period name, in characters. */
export const MAX_PERIOD = 10;

export const PERIOD_SHAPES: Readonly<Record<TagReset, Shape>> = {
  daily: {
    template: '{YYYY}-{MM}-{DD}',
    pattern: /^(?<YYYY>\d{4})-(?<MM>\d{2})-(?<DD>\d{2})$/,
    length: 10,
    days: 1,
  },
  monthly: { template: '{YYYY}-{MM}', pattern: /^(?<YYYY>\d{4})-(?<MM>\d{2})$/, length: 7, days: 31 },
  yearly: { template: '{YYYY}', pattern: /^(?<YYYY>\d{4})$/, length: 4, days: 366 },
};

/**
 * A day, month or year, and the time window in which its numbers may be issued. The window allows for any time zone and
 * for clocks that differ by a day.
 */
export interface Period {
  /** `2026-11-22`, `2026-11` or `2026`. */
  readonly name: string;
  /** No server issues its numbers before this time, in Unix milliseconds. */
  readonly opensAt: number;
  /** No server issues its numbers after this time, in Unix milliseconds. */
  readonly closesAt: number;
}

/** Numbers of one period. They are unique only together with its name. */
export interface PeriodRanges {
  /** `2026-11-22`, `2026-11` or `2026`. */
  readonly period: string;
  /** Ascending. */
  readonly ranges: readonly IdRange[];
}

/**
 * The days, months or years of an IANA time zone. A timestamp belongs to the local day of the zone, so a day may have
 * 23 or 25 hours, and a zone that crosses the date line skips or repeats a day.
 */
export class PeriodCalendar {
  private readonly formatter: Intl.DateTimeFormat;
  /** The minute of {@link newest}. Zone offsets change only on whole minutes. */
  private minute = NaN;
  private newest = '';

  /** @throws RangeError for an unknown time zone */
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
   * The name of the period that contains `at`.
   *
   * @param at Unix milliseconds, in the years 1970 to 9999
   * @throws LeafError `LEAF_PERIOD_INVALID`
   */
  nameAt(at: number): string {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute === this.minute) return this.newest;
    if (!(at >= 0 && at < END - ZONE_MS)) throw invalidPeriod('the date must be in the years 1970 to 9999');
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
 * @param name as returned by {@link PeriodCalendar.nameAt}
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function periodOf(reset: TagReset, name: string): Period {
  const { pattern, days } = PERIOD_SHAPES[reset];
  const parts = pattern.exec(name);
  if (parts === null) throw invalidPeriod(`${JSON.stringify(name)} is not a ${reset} period`);
  const [year = 0, month = 1, day = 1] = parts.slice(1).map(Number);
  const from = Date.UTC(year, month - 1, day);
  if (!new Date(from).toISOString().startsWith(name)) {
    throw invalidPeriod(`${JSON.stringify(name)} is not a calendar date`);
  }
  const { aheadMs, backMs } = PERIOD_BOUNDS[reset];
  return {
    name,
    opensAt: from - ZONE_MS - aheadMs - CLOCKS_MS,
    closesAt: from + days * DAY_MS + ZONE_MS + backMs + CLOCKS_MS,
  };
}

/**
 * The parts of a period name by their placeholders: `{ YYYY: '2026', MM: '11' }`.
 *
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function periodParts(reset: TagReset, name: string): Readonly<Record<string, string>> {
  periodOf(reset, name);
  return PERIOD_SHAPES[reset].pattern.exec(name)?.groups ?? {};
}

/**
 * Rejects timestamps too far from now, so that callers cannot fill the table with unneeded periods.
 *
 * @param at Unix milliseconds
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function assertNear(at: number, now: number, reset: TagReset): void {
  const { aheadMs, backMs } = PERIOD_BOUNDS[reset];
  if (at >= now - backMs && at <= now + aheadMs) return;
  throw invalidPeriod(
    `for a ${reset} tag, the date must be at most ${backMs / DAY_MS} days in the past and ${aheadMs / DAY_MS} days ahead; the clock of this server shows ${new Date(now).toISOString()}`,
  );
}

/** The name of the row of a period of a tag. */
export function periodRow(tag: string, period: string): string {
  return `${tag}${SEPARATOR}${period}`;
}

/** The tag that a row, or the row of a period, belongs to. */
export function tagOfRow(row: string): string {
  const end = row.indexOf(SEPARATOR);
  return end < 0 ? row : row.slice(0, end);
}

export function invalidPeriod(problem: string): LeafError {
  return new LeafError('LEAF_PERIOD_INVALID', `Invalid period: ${problem}.`);
}
