import type { IdRange } from '@leaf-ids/core';
import { DuplicateDetector, rangesOverlap } from './prefetch-buffer';

const ranges = (...ends: [number, number][]): IdRange[] =>
  ends.map(([from, to]) => ({ from: BigInt(from), to: BigInt(to) }));

describe('DuplicateDetector', () => {
  it('remembers the last 32 responses, with any number of ranges', () => {
    const answers = Array.from({ length: 33 }, (_, answer) =>
      ranges(...Array.from({ length: 50 }, (_, n): [number, number] => [answer * 1000 + n * 2, answer * 1000 + n * 2])),
    );
    const detector = new DuplicateDetector(rangesOverlap);
    for (const answer of answers) {
      expect(detector.isDuplicate(answer)).toBe(false);
      detector.add(answer);
    }
    expect(answers.map((answer) => detector.isDuplicate(answer))).toEqual([false, ...Array<true>(32).fill(true)]);
    expect(detector.isDuplicate(ranges([1001, 1001], [1003, 1099], [50_000, 60_000]))).toBe(true);
    expect(detector.isDuplicate(ranges([1001, 1001], [1003, 1003]))).toBe(false);
  });
});

describe('rangesOverlap', () => {
  it.each([
    [ranges([1, 5]), ranges([6, 9]), false],
    [ranges([1, 5]), ranges([5, 9]), true],
    [ranges([1, 1], [9, 9]), ranges([2, 8]), false],
    [ranges([1, 1], [8, 9]), ranges([2, 8]), true],
    [ranges([1, 100]), ranges([50, 51]), true],
    [ranges([10, 20], [30, 40]), ranges([1, 2], [21, 29], [41, 50]), false],
    [ranges([10, 20], [30, 40]), ranges([1, 2], [21, 29], [40, 50]), true],
    [ranges([1, 2]), [], false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect([rangesOverlap(a, b), rangesOverlap(b, a)]).toEqual([expected, expected]);
  });
});
