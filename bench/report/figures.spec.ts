import { atLeast, atMost, below, describeTargets, figure } from './figures';

describe('targets', () => {
  it('are reached at the mark itself when it is a lower one, and not when it is an upper one', () => {
    expect(atLeast('rate', 2, 2, 'IDs/s')).toMatchObject({ relation: '>=', target: 2, value: 2, reached: true });
    expect(atLeast('rate', 1.999, 2, 'IDs/s').reached).toBe(false);
    expect(below('p99', 0.999, 1, 'ms')).toMatchObject({ relation: '<', target: 1, value: 0.999, reached: true });
    expect(below('p99', 1, 1, 'ms').reached).toBe(false);
    expect(atMost('ratio', 1.1, 1.1, 'ratio')).toMatchObject({
      relation: '<=',
      target: 1.1,
      value: 1.1,
      reached: true,
    });
    expect(atMost('ratio', 1.11, 1.1, 'ratio').reached).toBe(false);
  });

  it.each([undefined, NaN, Infinity])('are missed when the value is %p, and keep it out of the file', (value) => {
    expect(atLeast('rate', value, 0, 'IDs/s')).toMatchObject({ value: null, reached: false });
    expect(below('p99', value, 1, 'ms')).toMatchObject({ value: null, reached: false });
    expect(atMost('ratio', value, 1, 'ratio')).toMatchObject({ value: null, reached: false });
    expect(figure('rate', value, 'IDs/s')).toEqual({ name: 'rate', value: null, unit: 'IDs/s' });
  });

  it('are listed with value, mark and verdict', () => {
    const lines = describeTargets([
      atLeast('fast enough', 4_046_499.6, 4_000_000, 'IDs/s'),
      atLeast('share', 0.98949, 0.99, 'ratio'),
      below('not there', undefined, 1, 'ms'),
    ]).split('\n');
    expect(lines.slice(2).map((line) => line.split(/ {2,}/))).toEqual([
      ['fast enough', '4,046,500', '>= 4,000,000', 'IDs/s', 'reached'],
      ['share', '0.9895', '>= 0.99', 'ratio', 'MISSED'],
      ['not there', 'not measured', '< 1', 'ms', 'MISSED'],
    ]);
  });
});
