import { idsOf, type IdRange } from '../tags/id-range';
import { SegmentQueue } from './segment-queue';

const range = (from: number, to: number): IdRange => ({ from: BigInt(from), to: BigInt(to) });

function queueOf(...ranges: readonly IdRange[]): SegmentQueue {
  const queue = new SegmentQueue();
  queue.append(ranges);
  return queue;
}

/** The state of a queue in which `issued` IDs were issued. */
function state({ issued, buffered, hasNext }: SegmentQueue): object {
  return { issued, buffered, hasNext };
}

describe('SegmentQueue', () => {
  it('is empty at first, and has nothing to switch to', () => {
    const queue = new SegmentQueue();
    expect(state(queue)).toEqual({ issued: 0, buffered: 0, hasNext: false });
    expect([queue.advance(), queue.has(1, false), queue.has(1, true), queue.moves]).toEqual([false, false, false, 0]);
    expect([queue.drain(1), queue.clear()]).toEqual([[], []]);
    expect(queue.snapshot()).toEqual({ issued: 0, buffered: 0, current: undefined, next: undefined, spare: [] });
    queue.append([]);
    expect(queue.advance()).toBe(false);
  });

  it('issues its segments in the order in which they were appended', () => {
    const queue = queueOf(range(1, 3), range(11, 12));
    queue.append([range(21, 25)]);
    expect(state(queue)).toEqual({ issued: 0, buffered: 10, hasNext: true });
    expect(queue.advance()).toBe(true);
    expect([queue.current.take(), queue.drain(3), queue.drain(2)]).toEqual([
      1n,
      [range(2, 3), range(11, 11)],
      [range(12, 12), range(21, 21)],
    ]);
    expect(state(queue)).toEqual({ issued: 6, buffered: 4, hasNext: false });
    expect(idsOf(queue.drain(4))).toEqual([22n, 23n, 24n, 25n]);
    expect(state(queue)).toEqual({ issued: 10, buffered: 0, hasNext: false });
    queue.append([range(31, 31)]);
    expect([queue.drain(1), state(queue)]).toEqual([[range(31, 31)], { issued: 11, buffered: 0, hasNext: false }]);
  });

  it('drains not one ID more than are buffered', () => {
    const queue = queueOf(range(1, 3), range(11, 12));
    expect(queue.drain(9)).toEqual([range(1, 3), range(11, 12)]);
    expect(queue.drain(0)).toStrictEqual([]);
  });

  it('shows its segments, the next ID of each, and at most a hundred behind the next', () => {
    const queue = queueOf(range(1, 3), range(11, 12), range(21, 25));
    queue.advance();
    queue.current.take();
    expect(queue.snapshot()).toEqual({
      issued: 1,
      buffered: 9,
      current: { ...range(1, 3), position: 2n },
      next: { ...range(11, 12), position: 11n },
      spare: [{ ...range(21, 25), position: 21n }],
    });
    queue.append(Array.from({ length: 200 }, (_, n) => range(100 + n, 100 + n)));
    const { next, spare } = queue.snapshot();
    expect([next?.from, spare.length, spare[0]?.from, spare[99]?.from]).toEqual([11n, 100, 21n, 198n]);
  });

  it('knows whether enough IDs are buffered, also without a gap', () => {
    const queue = queueOf(range(1, 3), range(4, 5), range(11, 14));
    expect([9, 10].map((count) => queue.has(count, false))).toEqual([true, false]);
    expect([5, 6].map((count) => queue.has(count, true))).toEqual([true, false]);
    queue.drain(2);
    expect([3, 4, 5].map((count) => queue.has(count, true))).toEqual([true, true, false]);
  });

  it('skips to the lowest consecutive IDs, and counts those below as a gap', () => {
    const queue = queueOf(range(1, 3), range(11, 12), range(13, 16));
    queue.drain(1);
    queue.skipToRun(2);
    expect([queue.current.position, queue.buffered]).toEqual([2n, 8]);
    const before = queue.moves;
    queue.skipToRun(5);
    expect([queue.current.position, state(queue)]).toEqual([11n, { issued: 1, buffered: 6, hasNext: true }]);
    expect(queue.moves).toBeGreaterThan(before);
    expect(queue.drain(5)).toEqual([range(11, 12), range(13, 15)]);
    expect(state(queue)).toEqual({ issued: 6, buffered: 1, hasNext: false });
  });

  it('drops no ID when not enough consecutive ones are buffered', () => {
    const queue = queueOf(range(1, 3), range(11, 12));
    queue.skipToRun(4);
    expect(queue.drain(5)).toEqual([range(1, 3), range(11, 12)]);
  });

  it('appends what was loaded for consecutive IDs only if they are buffered then', () => {
    const queue = queueOf(range(1, 3));
    const apart = [range(11, 12)];
    expect([queue.appendAll(apart, 3, true), apart, queue.buffered]).toEqual([true, [], 5]);
    const few = [range(21, 22)];
    expect([queue.appendAll(few, 4, true), few, queue.buffered]).toEqual([false, [], 5]);
    expect([queue.appendAll([range(31, 32)], 4, false), queue.buffered]).toEqual([true, 7]);
    expect([queue.appendAll([range(33, 34)], 4, true), queue.buffered]).toEqual([true, 9]);
    expect(queue.has(4, true)).toBe(true);
  });

  it('counts up with every ID that is appended, issued or skipped', () => {
    const queue = new SegmentQueue();
    const moves = [queue.moves];
    const note = (act: () => unknown): void => {
      act();
      moves.push(queue.moves);
    };
    note(() => queue.append([range(1, 2), range(11, 13)]));
    note(() => queue.drain(1));
    note(() => queue.skipToRun(3));
    note(() => queue.current.take());
    expect(moves).toEqual([0, 5, 6, 7, 8]);
  });

  it('gives back what it has not issued, newest first, and counts on with what follows', () => {
    const queue = queueOf(range(1, 3), range(11, 12), range(21, 25));
    queue.drain(2);
    expect(queue.clear()).toEqual([range(21, 25), range(11, 12), range(3, 3)]);
    expect(state(queue)).toEqual({ issued: 2, buffered: 0, hasNext: false });
    expect(queue.snapshot().current).toBeUndefined();
    queue.append([range(31, 33)]);
    expect(queue.drain(3)).toEqual([range(31, 33)]);
    expect([state(queue), queue.clear()]).toEqual([{ issued: 5, buffered: 0, hasNext: false }, []]);
  });
});
