import { parseMoment, spansOf } from './moments';

describe('parseMoment', () => {
  it.each([
    ['1567733700834', 1567733700834],
    ['2019-09-06T01:35:00.834Z', 1567733700834],
    ['2019-09-06 01:35:00.834 UTC', 1567733700834],
    ['2019-09-06 09:35:00.834+08:00', 1567733700834],
    ['2019-09-06 01:35Z', 1567733700000],
    ['2019-09-06 01:35:00', new Date(2019, 8, 6, 1, 35).getTime()],
    ['2019-09-06', new Date(2019, 8, 6).getTime()],
  ])('reads %s', (text, moment) => {
    expect(parseMoment(text)).toBe(moment);
  });

  it.each(['', 'now', '2019', '2019-13-01', '2019-02-30T99:00', '12:00', '123'])('refuses %j', (text) => {
    expect(parseMoment(text)).toBeUndefined();
  });
});

describe('spansOf', () => {
  it('includes the moment in each span', () => {
    const moment = Date.UTC(2026, 10, 21, 12, 34, 56, 789);
    const spans = spansOf(moment);
    expect(spans.slice(0, 3)).toEqual([
      { name: 'millisecond', from: moment, to: moment },
      { name: 'second', from: moment - 789, to: moment + 210 },
      { name: 'utcDay', from: Date.UTC(2026, 10, 21), to: Date.UTC(2026, 10, 22) - 1 },
    ]);
    for (const { from, to } of spans) {
      expect(from).toBeLessThanOrEqual(moment);
      expect(to).toBeGreaterThanOrEqual(moment);
    }
  });
});
