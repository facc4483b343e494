import type { DocumentNumber } from './document-number';
import type { NumberAudit } from './number-audit';
import { cursorOf, jsonOfAudit, jsonOfNumber, parseCursor } from './number-json';

const OPEN: DocumentNumber = {
  ...{ key: 'a', period: '2026', number: 2n ** 62n, turn: 1, state: 'issued', issuedAt: 0, issuedBy: 'shop' },
  ...{ settledAt: undefined, settledBy: undefined, reason: undefined },
};

it('A number in JSON has the fields that it has a value for', () => {
  const open = { tag: 'invoice', key: 'a', number: '4611686018427387904', issuedBy: 'shop' };
  const issuedAt = '1970-01-01T00:00:00.000Z';
  expect(jsonOfNumber('invoice', OPEN, 'INV-1')).toStrictEqual({
    ...{ ...open, period: '2026', text: 'INV-1', state: 'issued', issuedAt },
  });
  const settled = { settledAt: 1000, settledBy: 'till', reason: 'torn' };
  expect(jsonOfNumber('invoice', { ...OPEN, ...settled, period: '', state: 'void' }, undefined)).toStrictEqual({
    ...{ ...open, state: 'void', issuedAt },
    ...{ settledAt: '1970-01-01T00:00:01.000Z', settledBy: 'till', reason: 'torn' },
  });
});

it('An audit in JSON has its numbers in decimal', () => {
  const told = {
    ...{ tag: 'invoice', counts: { issued: 1, confirmed: 0, void: 0, reissued: 0 }, contiguous: false },
    ...{ chronological: true, lines: 2, unverified: 0, hash: 'ab', intact: false },
  };
  const fault = { number: 2n, position: undefined, problem: 'it is missing' };
  const audit: NumberAudit = { ...told, period: '', first: 1n, last: 3n, missing: [{ from: 2n, to: 2n }], fault };
  const json = { ...told, first: '1', last: '3', missing: [{ from: '2', to: '2' }] };
  expect(jsonOfAudit(audit)).toStrictEqual({ ...json, fault: { number: '2', problem: 'it is missing' } });
  expect(jsonOfAudit({ ...audit, period: '2026', fault: undefined })).toStrictEqual({ ...json, period: '2026' });
});

describe('The end of a page', () => {
  it.each(['2026-11', '2026/04-01', ''])('of the period %j is read again', (period) => {
    const { number, turn } = OPEN;
    expect(parseCursor(cursorOf({ ...OPEN, period }))).toEqual({ period, number, turn });
    expect(parseCursor(cursorOf({ ...OPEN, period, turn: 999_999_999 }))).toMatchObject({ turn: 999_999_999 });
  });

  it('is missing on the first page', () => {
    expect(parseCursor(undefined)).toBeUndefined();
    expect(parseCursor('~9223372036854775807~0')).toEqual({ period: '', number: 2n ** 63n - 1n, turn: 0 });
  });

  it.each([
    ...['', '1', '2026~1', '~~0', '~1~', '~-1~0', '~1~x', '~9223372036854775808~0', `${'x'.repeat(17)}~1~0`],
    ...['~1~1234567890', '2026~1~0 ', ' 2026~~1~0', '~1~0~0', '~12345678901234567890~0'],
  ])('is not %j', (cursor) => {
    expect(() => parseCursor(cursor)).toThrow(expect.objectContaining({ code: 'LEAF_REQUEST_INVALID' }) as Error);
  });
});
