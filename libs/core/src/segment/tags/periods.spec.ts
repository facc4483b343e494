import { PeriodFormat } from '../../format/period-format';
import { assertNear, PERIOD_BOUNDS, PeriodCalendar, periodOf, periodRow, tagOfRow } from './periods';
import { isTag } from './tag';
import { RESETS } from './tag-settings';

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

  it.each(RESETS)('of a %s tag is accepted up to its bounds, and rejected beyond', (reset) => {
    const { aheadMs, backMs } = PERIOD_BOUNDS[reset];
    for (const at of [NOW, NOW + aheadMs, NOW - backMs]) expect(() => assertNear(at, NOW, reset)).not.toThrow();
    for (const at of [NOW + aheadMs + 1, NOW - backMs - 1, NaN]) {
      expect(() => assertNear(at, NOW, reset)).toThrow(INVALID);
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

  it('refuses a period of another kind', () => {
    const refused = expect.objectContaining({ code: 'LEAF_ID_INVALID' }) as Error;
    expect(() => invoices.format({ period: '2026-11-22', number: 1n })).toThrow(refused);
    expect(() => invoices.format({ period: '2026-11', number: -1n })).toThrow(refused);
  });

  it('refuses impossible options', () => {
    expect(() => new PeriodFormat({ prefix: 'A-B', reset: 'daily' })).toThrow(RangeError);
    for (const digits of [0, 1.5, 20, NaN])
      expect(() => new PeriodFormat({ reset: 'daily', digits })).toThrow(RangeError);
  });
});
