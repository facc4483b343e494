import { type IdRange, MAX_ID } from '@leaf-ids/core';
import { DecimalWriter } from '@leaf-ids/core/internal';
import fc from 'fast-check';
import { batchLength, BatchText } from '../../../apps/leaf-server/src/http/responses/batch-text';
import { runs } from '../../support/runs';

/** Where the number of digits, or of ten thousands, changes, and anywhere. */
const start = fc.oneof(
  fc.bigInt(0n, MAX_ID - 100_000n),
  fc.tuple(fc.integer({ min: 1, max: 18 }), fc.integer({ min: -30, max: 30 })).map(([digits, offset]) => {
    const id = 10n ** BigInt(digits) + BigInt(offset);
    return id < 0n ? 0n : id;
  }),
  fc
    .bigInt(0n, 900_000_000_000_000n)
    .chain((group) => fc.nat(40).map((back) => group * 10_000n + 9_990n - BigInt(back))),
);
const size = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 25_000 }));
const range: fc.Arbitrary<IdRange> = fc
  .tuple(start, size)
  .map(([from, count]) => ({ from, to: from + BigInt(count - 1) }));
const name = fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/);

function textsOf({ from, to }: IdRange): string[] {
  return Array.from({ length: Number(to - from) + 1 }, (_, offset) => String(from + BigInt(offset)));
}

describe('the text of a batch', () => {
  it('is what BigInt writes, number by number', () => {
    const writer = new DecimalWriter();
    fc.assert(
      fc.property(range, fc.constantFrom(',', '","'), (run, separator) => {
        writer.rebase(run.from);
        return writer.writeRun(Number(run.to - run.from) + 1, separator) === textsOf(run).join(separator);
      }),
      { numRuns: runs(300) },
    );
  });

  it('ends with the largest ID as with any other', () => {
    const writer = new DecimalWriter();
    writer.rebase(MAX_ID - 1n);
    expect(writer.writeRun(2, ' ')).toBe('9223372036854775806 9223372036854775807');
  });

  it('is the JSON of it, whole, in pieces and in length', () => {
    const text = new BatchText();
    fc.assert(
      fc.property(
        fc.constantFrom('tag', 'key'),
        name,
        fc.array(range, { minLength: 1, maxLength: 4 }),
        (label, of, ranges) => {
          const json = JSON.stringify({ [label]: of, ids: ranges.flatMap(textsOf) });
          expect(text.write(label, of, ranges)).toBe(json);
          expect([...text.pieces(label, of, ranges)].join('')).toBe(json);
          expect(batchLength(label, of, ranges)).toBe(json.length);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('comes in pieces of bounded size, those of two batches independent of each other', () => {
    const text = new BatchText();
    const ranges = [{ from: MAX_ID - 9_999n, to: MAX_ID }];
    const other = [{ from: 1n, to: 10_000n }];
    const [one, two] = [text.pieces('key', 'a', ranges), text.pieces('key', 'b', other)];
    let [first, second] = ['', ''];
    for (let i = 0; i < 11; i++) {
      const [a, b] = [one.next().value ?? '', two.next().value ?? ''];
      expect(Math.max(a.length, b.length)).toBeLessThan(25_000);
      first += a;
      second += b;
    }
    expect([first, second]).toEqual([text.write('key', 'a', ranges), text.write('key', 'b', other)]);
    expect([one.next().done, two.next().done]).toEqual([true, true]);
  });
});
