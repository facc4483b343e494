import type { Interleave } from '@leaf-ids/core';
import { shareFault } from './shared-tags';

describe('the shares of an interleaved tag', () => {
  const share = (change: Partial<Interleave> = {}): Interleave => ({ of: 3, remainder: 0, block: 100, ...change });

  it('do not conflict when each has its own remainder', () => {
    expect(shareFault([])).toBeUndefined();
    expect(shareFault([['a', share()]])).toBeUndefined();
    expect(
      shareFault([
        ['a', share({ remainder: 2 })],
        ['b', share()],
        ['c', share({ remainder: 1 })],
      ]),
    ).toBeUndefined();
  });

  // Some IDs would be in two of the shares.
  it.each<[string, Partial<Interleave>]>([
    ['has the same remainder', { remainder: 1 }],
    ['is one of another number', { remainder: 2, of: 4 }],
    ['has blocks of another size', { remainder: 2, block: 200 }],
  ])('conflict when one of them %s', (_, change) => {
    const fault = shareFault([
      ['a', share()],
      ['b', share({ remainder: 1 })],
      ['c', share(change)],
    ]);
    expect(fault).toMatch(
      /^has conflicting shares in "[ab]" and "c": interleave_of and interleave_block must be equal, interleave_remainder must differ\. Delete the wrong row\.$/,
    );
  });
});
