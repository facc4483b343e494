import fc from 'fast-check';
import { History } from './history';
import { IdLog } from './id-log';

const MOST = 60;
const ranges = fc.array(fc.tuple(fc.integer({ min: 1, max: MOST }), fc.integer({ min: 0, max: 8 })), { maxLength: 20 });

/** The IDs that occur in more than one of `all`, one by one. */
function repeatedOneByOne(all: readonly (readonly [number, number])[]): number[] {
  const times = new Map<number, number>();
  for (const [from, more] of all) for (let id = from; id <= from + more; id++) times.set(id, (times.get(id) ?? 0) + 1);
  return [...times].flatMap(([id, count]) => (count > 1 ? [id] : [])).sort((a, b) => a - b);
}

it('finds exactly the IDs that were received more than once', () => {
  fc.assert(
    fc.property(ranges, (all) => {
      const log = new IdLog();
      for (const [from, more] of all) log.add({ from: BigInt(from), to: BigInt(from + more), caller: 0, at: 0 });
      const found = log.repeated().flatMap(({ from, to }) => {
        return Array.from({ length: Number(to - from) + 1 }, (_, index) => Number(from) + index);
      });
      expect(found).toEqual(repeatedOneByOne(all));
    }),
    { numRuns: 500 },
  );
});

it('says who received an ID that came twice among many, and keeps those of other spaces apart', () => {
  const history = new History();
  const [first, second] = [history.addCaller('first'), history.addCaller('second')];
  const base = 2n ** 62n;
  // More than one chunk of the log.
  for (let i = 0n; i < 70_000n; i++) {
    history.add('tag order', { from: base + 2n * i, to: base + 2n * i, caller: first, at: Number(i) });
  }
  history.add('tag user', { from: base, to: base + 10n, caller: second, at: 5 });
  expect(history.duplicates()).toStrictEqual([]);
  history.add('tag order', { from: base + 139_000n, to: base + 139_001n, caller: second, at: 7 });
  const id = String(base + 139_000n);
  expect(history.duplicates()).toEqual([
    {
      space: 'tag order',
      from: id,
      to: id,
      receipts: [
        { caller: 'first', atMs: 69_500 },
        { caller: 'second', atMs: 7 },
      ],
    },
  ]);
});
