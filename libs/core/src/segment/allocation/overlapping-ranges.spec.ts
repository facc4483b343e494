import * as fc from 'fast-check';
import { type IdRange } from '../tags/id-range';
import { OverlappingRanges, type SentAllocation } from './overlapping-ranges';

describe('OverlappingRanges', () => {
  const range = (from: number, to: number): IdRange => ({ from: BigInt(from), to: BigInt(to) });

  it('takes results in any order while their allocations overlap', () => {
    const results = new OverlappingRanges(10n);
    const [one, other] = [results.send(), results.send()];
    expect([results.take(other, range(21, 30)), results.take(one, range(11, 20)), results.highest]).toEqual([
      true,
      true,
      30n,
    ]);
  });

  it('refuses a result below one that came before its allocation was sent', () => {
    const results = new OverlappingRanges(10n);
    const stuck = results.send();
    const first = results.send();
    results.take(first, range(21, 30));
    results.end(first);
    expect([results.take(results.send(), range(15, 20)), results.take(stuck, range(11, 20))]).toEqual([false, true]);
  });

  it('keeps nothing of results once all allocations have ended', () => {
    const results = new OverlappingRanges(10n);
    const sent = [results.send(), results.send(), results.send()] as const;
    expect(results.size).toBe(3);
    expect(results.take(sent[1], range(31, 40))).toBe(true);
    results.end(sent[1]);
    expect(results.take(sent[0], range(11, 20))).toBe(true);
    results.end(sent[0]);
    expect(results.size).toBe(1);
    results.end(sent[2]);
    expect(results).toEqual(new OverlappingRanges(40n));
  });

  it('does not grow with results that adjoin each other while an allocation is stuck', () => {
    const [one, other] = [new OverlappingRanges(10n), new OverlappingRanges(10n)];
    one.send();
    other.send();
    for (let from = 11; from < 100; from += 10) {
      const sent = one.send();
      expect(one.take(sent, range(from, from + 9))).toBe(true);
      one.end(sent);
    }
    const sent = other.send();
    other.take(sent, range(11, 100));
    other.end(sent);
    expect(one).toEqual(other);
  });

  it('takes no ID twice, and none that is not above what was known when its allocation was sent', () => {
    const step = fc.record({ send: fc.boolean(), which: fc.nat(), from: fc.nat(60), size: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const results = new OverlappingRanges(0n);
        const sent: SentAllocation[] = [];
        const taken = new Set<number>();
        for (const { send, which, from, size } of steps) {
          if (send || sent.length === 0) {
            sent.push(results.send());
            continue;
          }
          const [one] = sent.splice(which % sent.length, 1) as [SentAllocation];
          const ids = Array.from({ length: size + 1 }, (_, n) => from + n);
          const isNew = ids.every((id) => !taken.has(id) && BigInt(id) > one.above);
          expect(results.take(one, range(from, from + size))).toBe(isNew);
          if (isNew) for (const id of ids) taken.add(id);
          results.end(one);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
