import { formatTime, isCount, isTime, parseArray, parseObject } from './json';

describe('JSON from external sources', () => {
  it.each(['', '{', 'null', '7', '"text"', 'true'])('%j is neither an object nor an array', (text) => {
    expect(parseObject(text)).toEqual({});
    expect(parseArray(text)).toStrictEqual([]);
  });

  it('is parsed if it has the requested type', () => {
    expect(parseObject('{"a":1}')).toEqual({ a: 1 });
    expect(parseArray('[1,"b"]')).toEqual([1, 'b']);
    expect(parseArray('{"0":1}')).toStrictEqual([]);
  });

  it('contains counts, and times up to the largest date', () => {
    expect([0, 1, Number.MAX_SAFE_INTEGER].every(isCount)).toBe(true);
    expect([-1, 0.5, NaN, 2 ** 53, '1', null].some(isCount)).toBe(false);
    expect(isTime(8_640_000_000_000_000)).toBe(true);
    expect(isTime(8_640_000_000_000_001)).toBe(false);
  });
});

it('formatTime accepts any time', () => {
  expect(formatTime(1_700_000_000_000)).toBe('2023-11-14T22:13:20.000Z');
  expect(formatTime(Number.MAX_SAFE_INTEGER)).toBe('+275760-09-13T00:00:00.000Z');
});
