import { InterleavedBlocks } from './interleaved-blocks';

describe('InterleavedBlocks', () => {
  const second = new InterleavedBlocks({ of: 3, remainder: 1, block: 10 });

  it.each([
    [1n, 11n, 1n, 11n],
    [11n, 41n, 11n, 21n],
    // The rest of a partial block is skipped.
    [2n, 41n, 11n, 21n],
    [10n, 41n, 11n, 21n],
    [12n, 71n, 21n, 31n],
  ])('the position %p begins the block of %p', (position, id, from, end) => {
    expect(second.atPosition(position)).toEqual({ range: { from: id, to: id + 9n }, from, end });
  });

  it.each([
    [1n, 11n],
    [11n, 11n],
    [12n, 41n],
    [20n, 41n],
    [41n, 41n],
    [42n, 71n],
  ])('from the ID %p on its next block begins with %p', (id, first) => {
    expect(second.fromId(id).range.from).toBe(first);
  });

  it('gives adjoining positions to a run of its blocks', () => {
    expect(second.run(second.atPosition(11n), 3)).toEqual([
      { range: { from: 41n, to: 50n }, from: 11n, end: 21n },
      { range: { from: 71n, to: 80n }, from: 21n, end: 31n },
      { range: { from: 101n, to: 110n }, from: 31n, end: 41n },
    ]);
  });

  it('may have a single ID in each block', () => {
    const odd = new InterleavedBlocks({ of: 2, remainder: 0, block: 1 });
    expect(odd.run(odd.atPosition(3n), 2)).toEqual([
      { range: { from: 5n, to: 5n }, from: 3n, end: 4n },
      { range: { from: 7n, to: 7n }, from: 4n, end: 5n },
    ]);
  });

  it('recognizes its own whole blocks', () => {
    expect(second.exactly({ from: 41n, to: 50n })).toMatchObject({ from: 11n, end: 21n });
    expect(second.exactly({ from: 42n, to: 50n })).toBeUndefined();
    expect(second.exactly({ from: 41n, to: 49n })).toBeUndefined();
    expect(second.exactly({ from: 1n, to: 10n })).toBeUndefined();
    expect(second.exactly({ from: 42n, to: 80n })).toBeUndefined();
  });

  it('assigns each ID to exactly one share', () => {
    const shares = [0, 1, 2].map((remainder) => new InterleavedBlocks({ of: 3, remainder, block: 7 }));
    const ids = shares.flatMap((share) =>
      Array.from({ length: 5 }, (_, index) => share.atPosition(BigInt(index * 7 + 1)).range).flatMap(({ from, to }) =>
        Array.from({ length: Number(to - from) + 1 }, (_, offset) => Number(from) + offset),
      ),
    );
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 105 }, (_, index) => index + 1));
  });
});
