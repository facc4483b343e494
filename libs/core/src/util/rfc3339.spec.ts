import { parseRfc3339 } from './rfc3339';

describe('parseRfc3339', () => {
  it.each([
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22t10:00:00.5z', '2026-11-22T10:00:00.500Z'],
    ['2026-11-22T10:00:00+05:30', '2026-11-22T04:30:00.000Z'],
    ['2024-02-29T00:00:00-01:00', '2024-02-29T01:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ])('parses %s', (text, expected) => {
    expect(parseRfc3339(text)?.toISOString()).toBe(expected);
  });

  it.each(['', 'now', '2026-11-22', '2026-11-22T10:00Z', '2026-11-22T10:00:00', '2026-11-22T25:00:00Z'])(
    'refuses %j',
    (text) => expect(parseRfc3339(text)).toBeUndefined(),
  );

  it('refuses days that do not exist', () => {
    for (const day of ['2026-02-30', '2025-02-29', '2026-13-01', '2026-04-31']) {
      expect(parseRfc3339(`${day}T10:00:00Z`)).toBeUndefined();
    }
  });
});
