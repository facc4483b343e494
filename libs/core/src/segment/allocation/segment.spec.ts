import { MAX_ID } from '../tags/id-range';
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

  it('gives numbers, bigints and ranges in turn', () => {
    const segment = new Segment({ from: 1n, to: 8n });
    expect([segment.takeNumber(), segment.take(), segment.takeNumber(), segment.takeNumber()]).toEqual([1, 2n, 3, 4]);
    expect(segment).toMatchObject({ position: 5n, left: 4, rest: { from: 5n, to: 8n } });
    expect([segment.takeNumber(), segment.takeRange(2), segment.takeNumber()]).toEqual([5, { from: 6n, to: 7n }, 8]);
    expect(segment).toMatchObject({ position: 9n, left: 0 });
  });

  it('gives numbers up to 2^53 - 1, and takes no ID above', () => {
    const from = BigInt(Number.MAX_SAFE_INTEGER) - 1n;
    const segment = new Segment({ from, to: from + 2n });
    expect([segment.takeNumber(), segment.takeNumber()]).toEqual([Number(from), Number.MAX_SAFE_INTEGER]);
    expect([segment.takeNumber(), segment.left, segment.take()]).toEqual([undefined, 1, from + 2n]);
    const last = new Segment({ from, to: from + 1n });
    expect([last.takeNumber(), last.takeNumber(), last.left]).toEqual([Number(from), Number.MAX_SAFE_INTEGER, 0]);
  });

  it.each([2n ** 53n - 2n, 2n ** 62n, MAX_ID - 3n])('is exact from %d on', (from) => {
    const segment = new Segment({ from, to: from + 3n });
    expect(segment.take()).toBe(from);
    expect(segment.takeRange(2)).toEqual({ from: from + 1n, to: from + 2n });
    expect(segment.take()).toBe(from + 3n);
  });
});
