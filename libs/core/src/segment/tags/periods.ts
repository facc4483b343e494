import { LeafError } from '../../errors/leaf-error';
import type { IdRange } from './id-range';
import type { RESETS, TagReset } from './tag-settings';

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

interface Calendar {
  /** The name of a period, with a placeholder for each part. A part has as many digits as its placeholder has letters. */
  readonly template: string;
  /** Days of the longest period. */
  readonly days: number;
  /** How far ahead of now a timestamp may be, in milliseconds. */
  readonly aheadMs: number;
  /** How far back a timestamp may be, in milliseconds. */
  readonly backMs: number;
  /** The parts of the period that contains a day. */
  partsOf(day: Date): Readonly<Record<string, number>>;
  /** The first day of the period with these parts, in order: UTC midnight, in Unix milliseconds. */
  startOf(...parts: number[]): number;
}

/** Length of the longest period name, in characters. */
export const MAX_PERIOD = 10;

/** Matches the names of periods, and little else. */
export const PERIOD_PATTERN = /^\d{4}(-\d{2}(-\d{2})?|-W\d{2}|-Q\d|\/\d{2}-\d{2})?$/;

const YEARS = { days: 366, aheadMs: 7 * DAY_MS, backMs: 10 * 366 * DAY_MS };

const CALENDARS: Readonly<Record<(typeof RESETS)[number], Calendar>> = {
  daily: {
    template: '{YYYY}-{MM}-{DD}',
    days: 1,
    aheadMs: 2 * DAY_MS,
    backMs: 400 * DAY_MS,
    partsOf: (day) => ({ ...monthOf(day), DD: day.getUTCDate() }),
    startOf: (year = 0, month = 0, day = 0) => Date.UTC(year, month - 1, day),
  },
  weekly: {
    template: '{YYYY}-W{WW}',
    days: 7,
    aheadMs: 7 * DAY_MS,
    backMs: 400 * DAY_MS,
    partsOf: (day) => {
      // A week belongs to the year of its Thursday: ISO 8601.
      const thursday = new Date(mondayOf(day.getTime()) + 3 * DAY_MS);
      const YYYY = thursday.getUTCFullYear();
      return { YYYY, WW: 1 + Math.floor((thursday.getTime() - Date.UTC(YYYY, 0, 1)) / (7 * DAY_MS)) };
    },
    startOf: (year = 0, week = 0) => mondayOf(Date.UTC(year, 0, 4)) + (week - 1) * 7 * DAY_MS,
  },
  monthly: {
    template: '{YYYY}-{MM}',
    days: 31,
    aheadMs: 7 * DAY_MS,
    backMs: 24 * 31 * DAY_MS,
    partsOf: monthOf,
    startOf: (year = 0, month = 0) => Date.UTC(year, month - 1),
  },
  quarterly: {
    template: '{YYYY}-Q{Q}',
    days: 92,
    aheadMs: 7 * DAY_MS,
    backMs: 12 * 92 * DAY_MS,
    partsOf: (day) => ({ YYYY: day.getUTCFullYear(), Q: 1 + Math.floor(day.getUTCMonth() / 3) }),
    startOf: (year = 0, quarter = 0) => Date.UTC(year, (quarter - 1) * 3),
  },
  yearly: {
    template: '{YYYY}',
    ...YEARS,
    partsOf: (day) => ({ YYYY: day.getUTCFullYear() }),
    startOf: (year = 0) => Date.UTC(year, 0),
  },
};

export function calendarOf(reset: TagReset): Calendar {
  return reset in CALENDARS
    ? CALENDARS[reset as keyof typeof CALENDARS]
    : fiscalCalendar(reset.slice('fiscal:'.length));
}

/** A year is named by the day on which it begins: the names of other fiscal years differ. */
function fiscalCalendar(begin: string): Calendar {
  const [month = 0, date = 0] = begin.split('-').map(Number);
  const startOf = (year = 0): number => Date.UTC(year, month - 1, date);
  return {
    template: `{YYYY}/${begin}`,
    ...YEARS,
    partsOf: (day) => {
      const year = day.getUTCFullYear();
      return { YYYY: day.getTime() < startOf(year) ? year - 1 : year };
    },
    startOf,
  };
}

function monthOf(day: Date): { YYYY: number; MM: number } {
  return { YYYY: day.getUTCFullYear(), MM: day.getUTCMonth() + 1 };
}

/** @param day a midnight, in Unix milliseconds */
function mondayOf(day: number): number {
  return day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
}

/** The name of a period with these parts. */
export function periodName({ template }: Calendar, parts: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, part: string) => String(parts[part]).padStart(part.length, '0'));
}

/**
 * A day, week, month, quarter or year, and the time window in which its numbers may be issued. The window allows for
 * any time zone and for clocks that differ by a day.
 */
export interface Period {
  /** `2026-11-22`, `2026-W47`, `2026-11`, `2026-Q4`, `2026` or `2026/04-01`. */
  readonly name: string;
  /** No server issues its numbers before this time, in Unix milliseconds. */
  readonly opensAt: number;
  /** No server issues its numbers after this time, in Unix milliseconds. */
  readonly closesAt: number;
}

/** Numbers of one period. They are unique only together with its name. */
export interface PeriodRanges {
  /** `2026-11-22`, `2026-W47`, `2026-11`, `2026-Q4`, `2026` or `2026/04-01`. */
  readonly period: string;
  /** Ascending. */
  readonly ranges: readonly IdRange[];
}

/** Minutes whose period a calendar remembers: now, the next one, and what callers name. */
const RECENT = 16;

/**
 * The periods of an IANA time zone. A timestamp belongs to the local day of the zone, so a day may have
 * 23 or 25 hours, and a zone that crosses the date line skips or repeats a day.
 */
export class PeriodCalendar {
  private readonly formatter: Intl.DateTimeFormat;
  private readonly calendar: Calendar;
  /** By minute: zone offsets change only on whole minutes. */
  private readonly recent = new Map<number, string>();

  /** @throws RangeError for an unknown time zone */
  constructor(
    reset: TagReset,
    readonly zone: string,
  ) {
    this.calendar = calendarOf(reset);
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
    const known = this.recent.get(minute);
    if (known !== undefined) return known;
    if (!(at >= 0 && at < END - ZONE_MS)) throw invalidPeriod('the date must be in the years 1970 to 9999');
    const name = periodName(this.calendar, this.calendar.partsOf(this.dayAt(at)));
    if (this.recent.size >= RECENT) this.recent.clear();
    this.recent.set(minute, name);
    return name;
  }

  /** The local day, as a day of UTC. */
  private dayAt(at: number): Date {
    const parts = this.formatter.formatToParts(at).map(({ type, value }) => [type, Number(value)] as const);
    const { year = NaN, month = NaN, day = NaN } = Object.fromEntries(parts) as Record<string, number>;
    return new Date(Date.UTC(year, month - 1, day));
  }
}

/** One calendar for all tags with the same reset and zone: each has 30 KB of native memory. */
export class PeriodCalendars {
  private readonly calendars = new Map<string, PeriodCalendar>();

  /** @throws RangeError for an unknown time zone */
  of(reset: TagReset, zone = 'UTC'): PeriodCalendar {
    const key = `${reset} ${zone}`;
    let calendar = this.calendars.get(key);
    if (calendar === undefined) this.calendars.set(key, (calendar = new PeriodCalendar(reset, zone)));
    return calendar;
  }
}

/**
 * @param name as returned by {@link PeriodCalendar.nameAt}
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function periodOf(reset: TagReset, name: string): Period {
  const calendar = calendarOf(reset);
  const from = calendar.startOf(...Object.values(periodParts(reset, name)).map(Number));
  if (periodName(calendar, calendar.partsOf(new Date(from))) !== name) {
    throw invalidPeriod(`${JSON.stringify(name)} does not exist in the calendar`);
  }
  const { days, aheadMs, backMs } = calendar;
  return {
    name,
    opensAt: from - ZONE_MS - aheadMs - CLOCKS_MS,
    closesAt: from + days * DAY_MS + ZONE_MS + backMs + CLOCKS_MS,
  };
}

/**
 * The parts of a period name by their placeholders: `{ YYYY: '2026', MM: '11' }`. The period may not exist.
 *
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function periodParts(reset: TagReset, name: string): Readonly<Record<string, string>> {
  const source = calendarOf(reset).template.replaceAll(
    /\{(\w+)\}/g,
    (_, part: string) => `(?<${part}>\\d{${part.length}})`,
  );
  const parts = new RegExp(`^${source}$`).exec(name)?.groups;
  if (parts === undefined) throw invalidPeriod(`${JSON.stringify(name)} is not a ${reset} period`);
  return parts;
}

/**
 * Rejects timestamps too far from now, so that callers cannot fill the table with unneeded periods.
 *
 * @param at Unix milliseconds
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function assertNear(at: number, now: number, reset: TagReset): void {
  const { aheadMs, backMs } = calendarOf(reset);
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
