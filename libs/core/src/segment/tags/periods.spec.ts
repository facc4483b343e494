import { PeriodFormat } from '../../format/period-format';
import {
  assertNear,
  calendarOf,
  MAX_PERIOD,
  PERIOD_PATTERN,
  PeriodCalendar,
  PeriodCalendars,
  periodOf,
  periodRow,
  tagOfRow,
} from './periods';
import { RESETS, isTag, type TagReset } from './tag-settings';

const INVALID = expect.objectContaining({ code: 'LEAF_PERIOD_INVALID' }) as Error;
const NOW = Date.UTC(2026, 10, 22, 10);

describe('a period', () => {
  it.each([
    ['daily', '2026-2-1'],
    ['daily', '2026-02-29'],
    ['daily', '2026-13-01'],
    ['daily', '2026-02'],
    ['monthly', '2026-00'],
    ['monthly', '2026-13'],
    ['monthly', '2026-11-22'],
    ['weekly', '2026-W00'],
    ['weekly', '2026-W54'],
    ['weekly', '2025-W53'],
    ['weekly', '2026-48'],
    ['quarterly', '2026-Q0'],
    ['quarterly', '2026-Q5'],
    ['fiscal:04-01', '2026'],
    ['fiscal:04-01', '2026/04-02'],
    ['yearly', '26'],
    ['yearly', '0050'],
    ['yearly', '2026 '],
  ] as const)('of a %s tag is not %s', (reset, name) => {
    expect(() => periodOf(reset, name)).toThrow(INVALID);
  });

  it('has a row name that is not a valid tag', () => {
    const row = periodRow('a:b', '2026-11');
    expect(row).toBe('a:b@2026-11');
    expect(isTag(row)).toBe(false);
    expect([tagOfRow(row), tagOfRow('a:b')]).toEqual(['a:b', 'a:b']);
  });

  it.each([-1, NaN, Infinity, Date.UTC(10_000, 0, 1)])('is not of the time %d', (at) => {
    expect(() => new PeriodCalendar('daily', 'UTC').nameAt(at)).toThrow(INVALID);
  });

  it.each([...RESETS, 'fiscal:04-01'] as const)(
    'of a %s tag is accepted up to its bounds, and rejected beyond',
    (reset) => {
      const { aheadMs, backMs } = calendarOf(reset);
      for (const at of [NOW, NOW + aheadMs, NOW - backMs]) expect(() => assertNear(at, NOW, reset)).not.toThrow();
      for (const at of [NOW + aheadMs + 1, NOW - backMs - 1, NaN]) {
        expect(() => assertNear(at, NOW, reset)).toThrow(INVALID);
      }
    },
  );
});

describe('a period of a tag that restarts', () => {
  const iso = (time: number): string => new Date(time).toISOString().replace('T00:00:00.000Z', '');

  it.each([
    ['daily', '2026-11-22', '2026-11-18', '2027-12-30'],
    ['weekly', '2026-W53', '2026-12-19', '2028-02-10'],
    ['monthly', '2026-02', '2026-01-23', '2028-03-19'],
    ['quarterly', '2026-Q4', '2026-09-22', '2030-01-11'],
    ['yearly', '2026', '2025-12-23', '2037-01-11'],
    ['fiscal:04-01', '2026/04-01', '2026-03-23', '2037-04-11'],
  ] as const)('%s, %s, has a window that allows for zones, clocks and late documents', (reset, name, opens, closes) => {
    const { opensAt, closesAt } = periodOf(reset, name);
    expect([iso(opensAt), iso(closesAt)]).toEqual([opens, closes]);
  });

  it.each([
    ['daily', '2026-03-29', '2026-03-30', '2026-03-29T21:59:59.999Z'],
    ['weekly', '2026-W53', '2027-W01', '2027-01-03T22:59:59.999Z'],
    ['weekly', '2024-W52', '2025-W01', '2024-12-29T22:59:59.999Z'],
    ['monthly', '2026-09', '2026-10', '2026-09-30T21:59:59.999Z'],
    ['quarterly', '2026-Q3', '2026-Q4', '2026-09-30T21:59:59.999Z'],
    ['quarterly', '2026-Q4', '2027-Q1', '2026-12-31T22:59:59.999Z'],
    ['yearly', '2026', '2027', '2026-12-31T22:59:59.999Z'],
    ['fiscal:04-01', '2025/04-01', '2026/04-01', '2026-03-31T21:59:59.999Z'],
  ] as const)('%s, %s, ends at midnight of its zone, and %s begins', (reset, name, next, end) => {
    const calendar = new PeriodCalendar(reset, 'Europe/Berlin');
    const last = Date.parse(end);
    expect([last - 999, last, last + 1].map((at) => calendar.nameAt(at))).toEqual([name, name, next]);
    for (const each of [name, next]) {
      expect(each).toMatch(PERIOD_PATTERN);
      expect(each.length).toBeLessThanOrEqual(MAX_PERIOD);
    }
  });

  it.each([
    '26',
    '2026-1',
    '2026-11-2',
    '2026-11-22-1',
    'x2026',
    '2026-W5',
    '2026-Q',
    '2026/04',
    '2026-Q11',
    '2026-w48',
  ])('has no name such as %s', (name) => {
    expect(name).not.toMatch(PERIOD_PATTERN);
  });

  it('covers the years 1970 to 9999', () => {
    const calendar = new PeriodCalendar('daily', 'UTC');
    expect([0, Date.UTC(9999, 11, 31) - 1].map((at) => calendar.nameAt(at))).toEqual(['1970-01-01', '9999-12-30']);
    expect(() => calendar.nameAt(Date.UTC(9999, 11, 31))).toThrow(INVALID);
  });

  it('is looked up once a minute, in a memory of 16 minutes', () => {
    const format = jest.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    const calendar = new PeriodCalendar('daily', 'UTC');
    const minutes = (count: number, after: number): number => {
      format.mockClear();
      for (let minute = 0; minute < count; minute++) calendar.nameAt(NOW + minute * 60_000 + after);
      return format.mock.calls.length;
    };
    expect([minutes(16, 0), minutes(16, 59_999), minutes(17, 1), minutes(16, 2)]).toEqual([16, 0, 1, 16]);
    format.mockRestore();
  });

  it.each([
    ['daily', 2, 400],
    ['weekly', 7, 400],
    ['monthly', 7, 744],
    ['quarterly', 7, 1104],
    ['yearly', 7, 3660],
    ['fiscal:04-01', 7, 3660],
  ] as const)('%s, is at most %d days ahead and %d days back', (reset, ahead, back) => {
    const days = (count: number): number => NOW + count * 86_400_000;
    for (const count of [ahead, -back]) expect(() => assertNear(days(count), NOW, reset)).not.toThrow();
    for (const count of [ahead + 1, -back - 1]) {
      expect(() => assertNear(days(count), NOW, reset)).toThrow(`at most ${back} days in the past and ${ahead} days`);
    }
  });
});

describe('PeriodFormat', () => {
  const invoices = new PeriodFormat({ prefix: 'INV', reset: 'monthly', digits: 5 });

  it('writes prefix, period and number', () => {
    expect(invoices.format({ period: '2026-11', number: 42n })).toBe('INV-2026-11-00042');
    expect(invoices.format({ period: '2026-11', number: 1_234_567n })).toBe('INV-2026-11-1234567');
    expect(invoices.parse('INV-2026-11-00042')).toEqual({ period: '2026-11', number: 42n });
    expect(new PeriodFormat({ reset: 'daily' }).format({ period: '2026-11-22', number: 7n })).toBe('2026-11-22-7');
  });

  it.each([
    'INV-2026-11-42',
    'INV-2026-11-000042',
    'inv-2026-11-00042',
    'INV-2026-13-00042',
    'INV-2026-11_00042',
    'INV-2026-11-0004x',
    'INV-2026-11-',
    'INV-2026-11-22-00042',
    'INV-2026-11-99999999999999999999',
    '',
  ])('refuses %j', (text) => {
    expect(() => invoices.parse(text)).toThrow(expect.objectContaining({ code: 'LEAF_ID_INVALID' }) as Error);
  });

  it('refuses a period of another kind, and a number that no tag has', () => {
    const refused = (message: string): Error =>
      expect.objectContaining({
        code: 'LEAF_ID_INVALID',
        message: expect.stringContaining(message) as string,
      }) as Error;
    const format =
      (period: string, number = 1n) =>
      () =>
        invoices.format({ period, number });
    expect(format('2026-11-22')).toThrow(refused('"2026-11-22" is not a monthly period'));
    expect(format('a long text that is none')).toThrow(refused('"a long tex" is not a monthly period'));
    expect(format('2026-11', -1n)).toThrow(refused('from 0 to 9223372036854775807'));
  });

  it('writes the numbers of ranges in their order', () => {
    const ranges = [
      { from: 9n, to: 10n },
      { from: 42n, to: 42n },
    ];
    expect(invoices.formatRanges({ period: '2026-11', ranges })).toEqual([
      ...['INV-2026-11-00009', 'INV-2026-11-00010', 'INV-2026-11-00042'],
    ]);
  });

  it.each([
    ['INV-{seq:12}', 'INV-000000000042'],
    [undefined, '42'],
  ])('writes and reads the numbers of a tag without periods by the pattern %s', (pattern, text) => {
    const format = new PeriodFormat({ reset: undefined, ...(pattern !== undefined && { pattern }) });
    expect(format.format({ period: '', number: 42n })).toBe(text);
    expect(format.parse(text)).toEqual({ period: '', number: 42n });
  });

  it('names the placeholders that a tag has when it refuses another', () => {
    const refused = (reset: TagReset | undefined, message: string): void =>
      expect(() => new PeriodFormat({ reset, pattern: '{no}{seq}' })).toThrow(message);
    const common = '{seq}, {seq:5}, {check:luhn}, {check:mod97}.';
    refused(undefined, `the placeholders for a tag without periods are ${common}`);
    refused('monthly', `the placeholders for a monthly tag are {YYYY}, {MM}, {YY}, ${common}`);
    refused('fiscal:04-01', `the placeholders for a fiscal:04-01 tag are {YYYY}, {FY}, {YY}, ${common}`);
  });

  it('follows a pattern of up to 128 characters', () => {
    const pattern = `{YYYY}{seq}${'x'.repeat(117)}`;
    const format = new PeriodFormat({ reset: 'yearly', pattern });
    expect(format.format({ period: '2026', number: 7n })).toBe(`20267${'x'.repeat(117)}`);
  });

  it.each([
    ['weekly', '{YYYY}W{WW}-{seq:3}', '2026-W53', '2026W53-042'],
    ['quarterly', '{YY}{QQ}{seq:3}', '2026-Q4', '2604042'],
    ['quarterly', '{YYYY}-Q{Q}/{seq}', '2026-Q4', '2026-Q4/42'],
    ['fiscal:04-01', 'FY{FY}-{seq:3}', '2026/04-01', 'FY2026-042'],
    ['fiscal:04-01', undefined, '2026/04-01', '2026/04-01-42'],
    ['weekly', undefined, '2026-W48', '2026-W48-42'],
  ] as const)('of a %s tag follows the pattern %s', (reset, pattern, period, text) => {
    const format = new PeriodFormat({ reset, ...(pattern !== undefined && { pattern }) });
    expect(format.format({ period, number: 42n })).toBe(text);
    expect(format.parse(text)).toEqual({ period, number: 42n });
  });

  it('follows a pattern', () => {
    const written = (pattern: string, options: object = {}): string => {
      const format = new PeriodFormat({ reset: 'daily', pattern, ...options });
      const text = format.format({ period: '2026-11-22', number: 42n });
      expect(format.parse(text)).toEqual({ period: '2026-11-22', number: 42n });
      return text;
    };
    expect(written('{prefix}{YYYY}{MM}{DD}{seq:5}', { prefix: 'R2' })).toBe('R22026112200042');
    expect(written('{DD}.{MM}.{YY} Nr. {seq}')).toBe('22.11.26 Nr. 42');
    expect(written('{seq:3}{YY}{MM}{DD}')).toBe('042261122');
    expect(written('订单[{YYYY}]({YY}/{MM}/{DD})+{seq}|')).toBe('订单[2026](26/11/22)+42|');
    expect(written('{YY}{MM}{DD}{seq:4}{check:luhn}')).toBe('26112200428');
    expect(written('INV-{YY}{MM}{DD}-{seq:4}-{check:mod97}')).toBe('INV-261122-0042-21');
  });

  it.each([
    ['7992739871{YYYY}{seq}', '{check:luhn}'],
    ['539007547034RF{YYYY}{seq}', '{check:mod97}'],
  ])('ends in check digits that other programs accept: %s', (before, check) => {
    const format = new PeriodFormat({ reset: 'yearly', pattern: before + check });
    const text = format.format({ period: '2026', number: 75n }).replace('RF', '2715');
    const digits = Array.from(text, Number);
    if (check === '{check:mod97}') expect(BigInt(text) % 97n).toBe(1n);
    else {
      const double = digits
        .reverse()
        .map((digit, index) => (index % 2 === 0 ? digit : Array.from(String(2 * digit), Number)));
      expect(double.flat().reduce((sum, digit) => sum + digit) % 10).toBe(0);
    }
  });

  it.each(['20261100042X', '2026110042', '202611000042', '20261300042', '2026-11-00042', '20261100042\n', '002611'])(
    'reads only what it writes by a pattern: not %j',
    (text) => {
      const format = new PeriodFormat({ reset: 'monthly', pattern: '{YYYY}{MM}{seq:5}' });
      expect(() => format.parse(text)).toThrow(expect.objectContaining({ code: 'LEAF_ID_INVALID' }) as Error);
    },
  );

  it('refuses other check digits, and parts that contradict each other', () => {
    const refused = expect.objectContaining({ code: 'LEAF_ID_INVALID' }) as Error;
    const checked = new PeriodFormat({ reset: 'yearly', pattern: '{YYYY}{YY}{seq:4}{check:mod97}' });
    const text = checked.format({ period: '2026', number: 1234n });
    for (let at = 0; at < text.length; at++) {
      const other = text.slice(0, at) + String((Number(text[at]) + 1) % 10) + text.slice(at + 1);
      expect(() => checked.parse(other)).toThrow(refused);
    }
    expect(() => checked.format({ period: '1999', number: 1n })).toThrow(refused);
  });

  it.each([
    ['{YYYY}-{seq}', 'must contain {MM}'],
    ['{MM}-{seq}', 'must contain {YYYY}'],
    ['{YYYY}-{MM}', 'exactly one {seq}'],
    ['{YYYY}-{MM}-{seq}-{seq:5}', 'exactly one {seq}'],
    ['{YYYY}-{MM}-{DD}-{seq}', 'unknown placeholder {DD}; the placeholders for a monthly tag are {YYYY}, {MM}, {YY},'],
    ['{yyyy}-{MM}-{seq}', 'unknown placeholder {yyyy}'],
    ['{YYYY}-{MM}-{seq:0}', 'minimum number of digits'],
    ['{YYYY}-{MM}-{seq:20}', 'minimum number of digits'],
    ['{YYYY}-{MM}-{seq:29}', 'minimum number of digits'],
    ['{YYYY}-{MM}-{seq:5x}', 'unknown placeholder {seq:5x}'],
    ['{YYYY}-{MM}-{xseq}', 'unknown placeholder {xseq}'],
    ['{YYYY}-{MM}-{QQ}-{seq}', 'unknown placeholder {QQ}'],
    ['{YYYY}-{MM}-{seq', 'unknown placeholder {'],
    ['{YYYY}}-{MM}-{seq}', 'unknown placeholder }'],
    ['{YYYY}{MM}{check:luhn}{seq}', 'must be at its end'],
    ['{YYYY}{MM}{seq}{check:crc}', 'unknown placeholder {check:crc}'],
    ['{YYYY}{MM}{seq}\n', 'invisible'],
    [`{YYYY}{MM}{seq}${'x'.repeat(128)}`, 'at most 128 characters'],
    ['{prefix}{YYYY}{MM}{seq}', '{prefix}'],
  ])('refuses the pattern %j', (pattern, message) => {
    const refused = { code: 'LEAF_CONFIG_INVALID', message: expect.stringContaining(message) as string };
    expect(() => new PeriodFormat({ reset: 'monthly', pattern })).toThrow(expect.objectContaining(refused) as Error);
  });

  it('refuses impossible and unknown options', () => {
    const refused = expect.objectContaining({ code: 'LEAF_CONFIG_INVALID' }) as Error;
    const reset = 'daily';
    const pattern = '{YYYY}{MM}{DD}{seq}';
    for (const prefix of ['A-B', '', '1A', 'A'.repeat(33), ['A']])
      expect(() => new PeriodFormat({ prefix, reset } as never)).toThrow(refused);
    for (const digits of [0, 1.5, 20, NaN]) expect(() => new PeriodFormat({ reset, digits })).toThrow(refused);
    expect(() => new PeriodFormat({ reset, pattern, digits: 5 })).toThrow('{seq:5}');
    expect(() => new PeriodFormat({ reset, pattern, prefix: 'INV' })).toThrow('{prefix}');
    expect(() => new PeriodFormat({ reset, width: 5 } as never)).toThrow(
      'width is not an option; the options are reset, pattern, prefix, digits',
    );
    expect(() => new PeriodFormat({ reset: 'hourly' } as never)).toThrow('reset must be one of daily, weekly,');
  });
});

it('tags with the same reset and zone share a calendar', () => {
  const calendars = new PeriodCalendars();
  expect(calendars.of('daily', 'Asia/Tokyo')).toBe(calendars.of('daily', 'Asia/Tokyo'));
  expect(calendars.of('daily')).toBe(calendars.of('daily', 'UTC'));
  expect(calendars.of('monthly')).not.toBe(calendars.of('daily'));
});
