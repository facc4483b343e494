import fc from 'fast-check';
import { PeriodFormat, type PeriodNumber, type TagReset } from '@leaf-ids/core';
import { calendarOf, PERIOD_PATTERN, PeriodCalendar, periodOf, RESETS } from '@leaf-ids/core/internal';
import { runs } from '../../support/runs';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const ZONES = Intl.supportedValuesOf('timeZone');

const moments = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2060, 0, 1) });
const zones = fc.constantFrom(
  ...ZONES,
  'UTC',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
);
const ALL: readonly TagReset[] = [...RESETS, 'fiscal:01-01', 'fiscal:02-28', 'fiscal:04-01', 'fiscal:12-31'];
const resets = fc.constantFrom(...ALL);

/** What the wall clocks show, by another way: the offset of the zone, added to UTC. */
class Offsets {
  private readonly formatters = new Map<string, Intl.DateTimeFormat>();

  localDay(zone: string, at: number): string {
    return new Date(at + this.offsetMs(zone, at)).toISOString().slice(0, 10);
  }

  offsetMs(zone: string, at: number): number {
    let formatter = this.formatters.get(zone);
    formatter ??= new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    this.formatters.set(zone, formatter);
    const name = formatter.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const parts = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name);
    if (parts === null) throw new Error(`${zone} has the offset ${name}`);
    const minutes = Number(parts[2] ?? 0) * 60 + Number(parts[3] ?? 0);
    return (parts[1] === '-' ? -minutes : minutes) * MINUTE_MS;
  }
}

const offsets = new Offsets();
const nameAt = (reset: TagReset, zone: string, at: number): string => new PeriodCalendar(reset, zone).nameAt(at);

/** The calendars of the zone of the last call: they are slow to create. */
let calendars: readonly PeriodCalendar[] = [];

function expectDay(zone: string, at: number): void {
  const day = offsets.localDay(zone, at);
  if (calendars[0]?.zone !== zone) calendars = ALL.map((reset) => new PeriodCalendar(reset, zone));
  for (const [index, reset] of ALL.entries()) {
    const name = calendars[index]!.nameAt(at);
    expect([reset, name]).toEqual([reset, nameOf(reset, day)]);
    expect(name).toMatch(PERIOD_PATTERN);
    expect(periodOf(reset, name).name).toBe(name);
  }
}

/** The name of the period of a day, by text and by counting. */
function nameOf(reset: TagReset, day: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  const begin = reset.split(':')[1];
  if (begin !== undefined) return `${Number(year) - (`${month}-${date}` < begin ? 1 : 0)}/${begin}`;
  if (reset === 'weekly') return weekOf(Date.parse(day));
  if (reset === 'quarterly') return `${year}-Q${Math.ceil(Number(month) / 3)}`;
  return day.slice(0, { daily: 10, monthly: 7, yearly: 4 }[reset as 'daily']);
}

/** Counts the Thursdays of the year: a week belongs to the year of its Thursday. */
function weekOf(day: number): string {
  const weekday = new Date(day).getUTCDay() || 7;
  const year = new Date(day + (4 - weekday) * DAY_MS).getUTCFullYear();
  let thursdays = 0;
  for (let at = Date.UTC(year, 0, 1); at <= day + (4 - weekday) * DAY_MS; at += DAY_MS) {
    if (new Date(at).getUTCDay() === 4) thursdays++;
  }
  return `${year}-W${String(thursdays).padStart(2, '0')}`;
}

describe('the periods of a zone', () => {
  it('are those of its wall clocks, in every zone at any time', () => {
    fc.assert(
      fc.property(zones, moments, (zone, at) => expectDay(zone, at)),
      { numRuns: runs(500) },
    );
  });

  it('change at the midnight of the zone, to the millisecond', () => {
    fc.assert(
      fc.property(zones, moments, (zone, at) => {
        const midnight = midnightBefore(zone, at);
        for (const ms of [-1, 0, 1]) expectDay(zone, midnight + ms);
      }),
      { numRuns: runs(500) },
    );
  });

  it('are right on both sides of every change of an offset', () => {
    fc.assert(
      fc.property(zones, fc.integer({ min: 2000, max: 2045 }), (zone, year) => {
        for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += 7 * DAY_MS) {
          const change = changeBetween(zone, at, at + 7 * DAY_MS);
          if (change === undefined) continue;
          for (const ms of [-1, 0, 1, -3_600_000, 3_600_000]) expectDay(zone, change + ms);
        }
      }),
      { numRuns: runs(20) },
    );
  });

  it('are the same from one calendar, in whatever order it is asked around midnight', () => {
    fc.assert(
      fc.property(zones, moments, fc.array(fc.integer({ min: -2, max: 2 })), (zone, start, steps) => {
        const calendar = new PeriodCalendar('daily', zone);
        let at = midnightBefore(zone, start);
        for (const step of steps) {
          at += step * 20_011;
          expect(calendar.nameAt(at)).toBe(nameAt('daily', zone, at));
        }
      }),
    );
  });

  it.each([
    ['Pacific/Apia', '2011-12-30T09:59:59.999Z', '2011-12-29'],
    ['Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-31'],
    ['Asia/Kathmandu', '2026-11-21T18:14:59.999Z', '2026-11-21'],
    ['Asia/Kathmandu', '2026-11-21T18:15:00.000Z', '2026-11-22'],
    ['Africa/Casablanca', '2026-02-14T23:30:00.000Z', '2026-02-15'],
    ['Africa/Casablanca', '2026-02-16T23:30:00.000Z', '2026-02-16'],
    ['America/St_Johns', '2010-11-07T02:30:59.999Z', '2010-11-07'],
    ['America/St_Johns', '2010-11-07T02:31:00.000Z', '2010-11-06'],
    ['Europe/Berlin', '2024-02-28T23:00:00.000Z', '2024-02-29'],
    ['Europe/Berlin', '2024-02-29T23:00:00.000Z', '2024-03-01'],
    ['UTC', '2100-02-28T23:59:59.999Z', '2100-02-28'],
    ['UTC', '2100-03-01T00:00:00.000Z', '2100-03-01'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z', '2027-01-01'],
    ['Etc/GMT+12', '2027-01-01T11:59:59.999Z', '2026-12-31'],
  ])('in %s at %s are of %s', (zone, at, day) => {
    for (const reset of ALL) expect(nameAt(reset, zone, Date.parse(at))).toBe(nameOf(reset, day));
  });

  it.each([
    ['2020-12-31', '2020-W53', '2020-Q4', '2020/04-01'],
    ['2021-01-03', '2020-W53', '2021-Q1', '2020/04-01'],
    ['2021-01-04', '2021-W01', '2021-Q1', '2020/04-01'],
    ['2024-12-30', '2025-W01', '2024-Q4', '2024/04-01'],
    ['2026-03-31', '2026-W14', '2026-Q1', '2025/04-01'],
    ['2026-04-01', '2026-W14', '2026-Q2', '2026/04-01'],
  ])('of %s are %s, %s and %s', (day, ...names) => {
    const at = Date.parse(`${day}T12:00Z`);
    expect((['weekly', 'quarterly', 'fiscal:04-01'] as const).map((reset) => nameAt(reset, 'UTC', at))).toEqual(names);
  });

  it('sort by name as by time', () => {
    fc.assert(
      fc.property(resets, moments, fc.integer({ min: 1, max: 800 }), (reset, at, days) => {
        const [first, second] = [at, at + days * DAY_MS].map((time) => periodOf(reset, nameAt(reset, 'UTC', time)));
        expect(Math.sign(second!.opensAt - first!.opensAt)).toBe(first!.name === second!.name ? 0 : 1);
        expect(first!.name <= second!.name).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  it('give numbers in windows that hold every moment from which they may be asked for', () => {
    fc.assert(
      fc.property(zones, resets, moments, fc.double({ min: 0, max: 1, noNaN: true }), (zone, reset, now, share) => {
        const { aheadMs, backMs } = calendarOf(reset);
        const at = Math.floor(now - backMs + share * (backMs + aheadMs));
        const { opensAt, closesAt } = periodOf(reset, nameAt(reset, zone, at));
        // A database whose clock differs by a day agrees.
        expect(opensAt).toBeLessThanOrEqual(now - DAY_MS);
        expect(closesAt).toBeGreaterThanOrEqual(now + DAY_MS);
      }),
      { numRuns: runs(700) },
    );
  });
});

describe('PeriodFormat', () => {
  const numbers = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 6n }), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }));
  const digits = fc.integer({ min: 1, max: 19 });
  const prefixes = fc.constantFrom(undefined, 'INV', 'a', 'R2');

  const literals = fc.constantFrom('', '-', 'INV', '7', '/', 'a.b');

  it('writes each number of a period as one text, and reads no other', () => {
    fc.assert(
      fc.property(prefixes, resets, digits, numbers, moments, (prefix, reset, width, number, at) => {
        const format = new PeriodFormat({ reset, digits: width, ...(prefix !== undefined && { prefix }) });
        expectExact(format, { period: nameAt(reset, 'UTC', at), number });
      }),
      { numRuns: runs(500) },
    );
  });

  it('does so by any pattern', () => {
    fc.assert(
      fc.property(fc.option(resets, { nil: undefined }), fc.gen(), numbers, moments, (reset, draw, number, moment) => {
        // {YY} cannot be 1999, the year of a week or a fiscal year that contains January 1, 2000.
        const at = Math.max(moment, Date.UTC(2001, 0, 1));
        const parts = reset === undefined ? [] : (calendarOf(reset).template.match(/\{\w+\}/g) ?? []);
        const seq = `{seq:${draw(() => digits)}}`;
        const all = [
          seq,
          ...parts.map((part) => (part === '{YYYY}' ? draw(() => fc.constantFrom(part, '{YY}')) : part)),
        ];
        const order = draw(() => fc.shuffledSubarray(all, { minLength: all.length }));
        const text = order.map((part) => draw(() => literals) + part).join('') + draw(() => literals);
        const pattern = text + draw(() => fc.constantFrom('', '{check:luhn}', '{check:mod97}'));
        const period = reset === undefined ? '' : nameAt(reset, 'UTC', at);
        expectExact(new PeriodFormat({ reset, pattern }), { period, number });
      }),
      { numRuns: runs(1000) },
    );
  });

  function expectExact(format: PeriodFormat, given: PeriodNumber): void {
    const text = format.format(given);
    expect(format.parse(text)).toEqual(given);
    const cuts = Array.from({ length: text.length + 1 }, (_, at) => `${text.slice(0, at)}0${text.slice(at)}`);
    for (const other of [...cuts, text.slice(1), ` ${text}`, `${text}\n`]) {
      let read: string | undefined;
      try {
        read = format.format(format.parse(other));
      } catch (error) {
        expect(error).toMatchObject({ code: 'LEAF_ID_INVALID' });
      }
      if (read !== undefined) expect(read).toBe(other);
    }
  }
});

/** Where no offset changes on that day. */
function midnightBefore(zone: string, at: number): number {
  const offset = offsets.offsetMs(zone, at);
  return Math.floor((at + offset) / DAY_MS) * DAY_MS - offset;
}

/** The first millisecond of another offset; undefined when there is no change. */
function changeBetween(zone: string, from: number, to: number): number | undefined {
  const offset = offsets.offsetMs(zone, from);
  if (offsets.offsetMs(zone, to) === offset) return undefined;
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsets.offsetMs(zone, middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}
