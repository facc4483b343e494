import { MAX_ID } from './id-range';
import { Segment } from './segment';

describe('Segment', () => {
  it('gives its IDs from the lower end', () => {
    const segment = new Segment({ from: 5n, to: 7n });
    expect([segment.take(), segment.take(), segment.take()]).toEqual([5n, 6n, 7n]);
    expect(segment.left).toBe(0);
  });

  it('gives ranges and single IDs in turn', () => {
    const segment = new Segment({ from: 1n, to: 10n });
    expect(segment.takeRange(3)).toEqual({ from: 1n, to: 3n });
    expect(segment.take()).toBe(4n);
    expect(segment.takeRange(6)).toEqual({ from: 5n, to: 10n });
    expect(segment.left).toBe(0);
  });

  it('knows its size, position and rest', () => {
    const segment = new Segment({ from: 1n, to: 10n });
    expect(segment).toMatchObject({ size: 10, left: 10, position: 1n, rest: { from: 1n, to: 10n } });
    segment.takeRange(4);
    expect(segment).toMatchObject({ size: 10, left: 6, position: 5n, rest: { from: 5n, to: 10n } });
    segment.takeRange(6);
    expect(segment).toMatchObject({ size: 10, left: 0, position: 11n });
  });

  it.each([2n ** 53n - 2n, 2n ** 62n, MAX_ID - 3n])('is exact from %d on', (from) => {
    const segment = new Segment({ from, to: from + 3n });
    expect(segment.take()).toBe(from);
    expect(segment.takeRange(2)).toEqual({ from: from + 1n, to: from + 2n });
    expect(segment.take()).toBe(from + 3n);
  });
});
