import { isCount, isTime, parseArray, parseObject } from './json';

describe('JSON from elsewhere', () => {
  it.each(['', '{', 'null', '7', '"text"', 'true'])('%j is no object and no array', (text) => {
    expect(parseObject(text)).toEqual({});
    expect(parseArray(text)).toEqual([]);
  });

  it('is read where it is what was asked for', () => {
    expect(parseObject('{"a":1}')).toEqual({ a: 1 });
    expect(parseArray('[1,"b"]')).toEqual([1, 'b']);
    expect(parseArray('{"0":1}')).toEqual([]);
  });

  it('has counts, and times up to the last date', () => {
    expect([0, 1, Number.MAX_SAFE_INTEGER].every(isCount)).toBe(true);
    expect([-1, 0.5, NaN, 2 ** 53, '1', null].some(isCount)).toBe(false);
    expect(isTime(8_640_000_000_000_000)).toBe(true);
    expect(isTime(8_640_000_000_000_001)).toBe(false);
  });
});
