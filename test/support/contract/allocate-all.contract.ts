import { type Allocation, type IdRange, MAX_ID, type SegmentStore } from '@leaf-ids/core';
import { REFUSED } from '../http/refusal';

/** A storage under test: two connections, and independent access to its rows. */
export interface SegmentRows {
  readonly store: SegmentStore;
  /** Another connection to the same storage. */
  readonly second: SegmentStore;
  /** Creates the row, or replaces it. */
  putRow(tag: string, maxId: bigint, step: number): Promise<void>;
  readMaxId(tag: string): Promise<bigint>;
  /** Records that a tag of this name was deleted, whose last ID is the one before `nextId`. */
  putDeleted(tag: string, nextId: bigint): Promise<void>;
}

/** Part of the contract of every `SegmentStore`: allocations for several tags in one call. */
export function allocateAllContract(open: () => SegmentRows): void {
  describe('allocateAll', () => {
    let fixture: SegmentRows;
    let store: SegmentStore;
    let second: SegmentStore;

    beforeEach(() => {
      fixture = open();
      ({ store, second } = fixture);
    });

    const TAGS = Array.from({ length: 12 }, (_, n) => `tag.${n}`);

    it('answers each request, in their order', async () => {
      await fixture.putRow('b', 500n, 20);
      await fixture.putRow('a', 1n, 10);
      expect(
        await store.allocateAll([
          { tag: 'b', size: 3 },
          { tag: 'a', size: 1_000_000 },
        ]),
      ).toEqual([
        { from: 500n, to: 502n, step: 20 },
        { from: 1n, to: 1_000_000n, step: 10 },
      ]);
      expect([await fixture.readMaxId('a'), await fixture.readMaxId('b')]).toEqual([1_000_001n, 503n]);
      expect(await second.allocateAll([{ tag: 'b', size: 1 }])).toEqual([{ from: 503n, to: 503n, step: 20 }]);
      expect(await store.allocateAll([])).toStrictEqual([]);
    });

    it('what one is refused with leaves the others alone', async () => {
      await fixture.putRow('a', 1n, 10);
      await fixture.putRow('b', MAX_ID - 3n, 10);
      await fixture.putRow('c', 7n, 10);
      await fixture.putRow('d', 0n, 10);
      const sizes = ['a', 'none', 'b', "o'brien", 'A', 'd', 'c'].map((tag) => ({ tag, size: 5 }));
      expect(await store.allocateAll(sizes)).toEqual([
        { from: 1n, to: 5n, step: 10 },
        REFUSED('LEAF_TAG_NOT_FOUND'),
        REFUSED('LEAF_TAG_EXHAUSTED'),
        REFUSED('LEAF_TAG_NOT_FOUND'),
        REFUSED('LEAF_TAG_NOT_FOUND'),
        REFUSED('LEAF_TAG_ROW_INVALID'),
        { from: 7n, to: 11n, step: 10 },
      ]);
      expect(await fixture.readMaxId('b')).toBe(MAX_ID - 3n);
    });

    it('lies above what deleted tags had given, and is exact above 2^53', async () => {
      await fixture.putDeleted('a', 2n ** 53n + 1n);
      await fixture.putRow('a', 1n, 10);
      await fixture.putRow('b', 1n, 10);
      const both = ['a', 'b'].map((tag) => ({ tag, size: 2 }));
      const [a, b] = await store.allocateAll(both);
      expect([a, b]).toEqual([expect.objectContaining({ from: 2n ** 53n + 1n, to: 2n ** 53n + 2n }), expect.objectContaining({ from: 1n })]); // prettier-ignore
      expect(await fixture.readMaxId('a')).toBe(2n ** 53n + 3n);
    });

    it('overlaps with nothing when many take at once, in any order', async () => {
      for (const tag of TAGS) await fixture.putRow(tag, 1n, 10);
      const takes = Array.from({ length: 24 }, (_, n) => {
        const requests = TAGS.map((tag, place) => ({ tag, size: 1 + ((n * place) % 5) }));
        const order = n % 3 === 0 ? requests.reverse() : requests;
        const from = n % 2 === 0 ? store : second;
        return from
          .allocateAll(order)
          .then((answers) => order.map(({ tag }, index) => ({ tag, answer: answers[index] })));
      });
      const taken = (await Promise.all(takes)).flat();
      for (const tag of TAGS) {
        const ranges = taken.flatMap(({ tag: of, answer }) => (of === tag ? [answer as Allocation] : []));
        expect(ranges).toHaveLength(24);
        expect(assertGapless(ranges, 1n)).toBe(await fixture.readMaxId(tag));
      }
    });

    it('each call gets more than one that was answered before, whichever connection', async () => {
      for (const tag of TAGS) await fixture.putRow(tag, 1n, 10);
      let last = 0n;
      for (let n = 0; n < 10; n++) {
        const answers = await (n % 2 === 0 ? store : second).allocateAll(TAGS.map((tag) => ({ tag, size: 1 })));
        const froms = answers.map((answer) => (answer as Allocation).from);
        expect(new Set(froms)).toEqual(new Set([last + 1n]));
        last++;
      }
    });
  });
}

/** @returns one past the highest */
export function assertGapless(ranges: readonly Allocation[], from: bigint): bigint {
  const sorted: readonly IdRange[] = [...ranges].sort((a, b) => (a.from < b.from ? -1 : 1));
  let expected = from;
  for (const range of sorted) {
    expect(range.from).toBe(expected);
    expected = range.to + 1n;
  }
  return expected;
}
