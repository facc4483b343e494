import { PeriodFormat } from '../../format/period-format';
import { assertNear, calendarOf, PeriodCalendar, PeriodCalendars, periodOf, periodRow, tagOfRow } from './periods';
import { RESETS, isTag } from './tag-settings';

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

  it('refuses a period of another kind', () => {
    const refused = expect.objectContaining({ code: 'LEAF_ID_INVALID' }) as Error;
    expect(() => invoices.format({ period: '2026-11-22', number: 1n })).toThrow(refused);
    expect(() => invoices.format({ period: '2026-11', number: -1n })).toThrow(refused);
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
    const text = format.format({ period: '2026', number: 7n }).replace('RF', '2715');
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
    expect(() => new PeriodFormat({ prefix: 'A-B', reset })).toThrow(refused);
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
