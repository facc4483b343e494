import { auditPath, type NumberRow } from '../../api/numbers-api';
import { isKey, nameOf, queryOf, sortNumbers, withNumber } from './number-rows';

function row(key: string, number: string, more: Partial<NumberRow> = {}): NumberRow {
  const issued = { state: 'issued', issuedAt: '2026-11-01T00:00:00.000Z', issuedBy: 'shop' } as const;
  return { tag: 'invoice', key, number, ...issued, ...more };
}

const keysOf = (rows: readonly NumberRow[]): string => rows.map(({ key }) => key).join();

describe('the addresses', () => {
  it('have a period only if one is given', () => {
    expect(queryOf({ state: 'issued', period: '' })).toBe('?state=issued');
    expect(queryOf({ state: 'void', period: '2026-11' })).toBe('?state=void&period=2026-11');
    expect(auditPath('a:b', '', 'csv')).toBe('api/numbers/a%3Ab/audit?format=csv');
    expect(auditPath('invoice', '2026')).toBe('api/numbers/invoice/audit?format=json&period=2026');
  });

  it('cannot have some keys', () => {
    expect(['', 'order 7', 'audits', '...'].every(isKey)).toBe(true);
    expect(['.', '..', 'audit'].some(isKey)).toBe(false);
  });
});

describe('sortNumbers', () => {
  const rows = [
    row('b', '10', { period: '2026' }),
    row('a', '9', { period: '2026', issuedAt: '2026-10-01T00:00:00.000Z', settledAt: '2026-12-01T00:00:00.000Z' }),
    row('c', '9007199254740993', { period: '2025' }),
  ];

  it('sorts numbers by value within their period', () => {
    expect(keysOf(sortNumbers(rows, { by: 'number', descending: false }))).toBe('c,a,b');
    expect(keysOf(sortNumbers(rows, { by: 'number', descending: true }))).toBe('b,a,c');
  });

  it('sorts by time and by key, and ties by number', () => {
    expect(keysOf(sortNumbers(rows, { by: 'issued', descending: false }))).toBe('a,c,b');
    expect(keysOf(sortNumbers(rows, { by: 'document', descending: false }))).toBe('a,b,c');
    expect(keysOf(sortNumbers(rows, { by: 'settled', descending: true }))).toBe('a,b,c');
  });
});

it('shows the text of a number, and its new state', () => {
  expect([nameOf(row('a', '7')), nameOf(row('a', '7', { text: 'INV-7' }))]).toEqual(['7', 'INV-7']);
  const changed = withNumber([row('a', '1'), row('b', '2')], row('b', '2', { state: 'confirmed' }));
  expect(changed.map(({ state }) => state)).toEqual(['issued', 'confirmed']);
});
