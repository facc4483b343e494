import fc from 'fast-check';
import { type DocumentNumber, LeafError } from '@leaf-ids/core';
import {
  type JournalEntry,
  JournalSeal,
  type NumberHead,
  NumberLedger,
  type NumberRequest,
} from '@leaf-ids/core/internal';
import { runs } from '../../support/runs';

const seal = new JournalSeal();
const PERIODS = ['2026-11', '2026-12'];
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];

interface Call {
  readonly requests: readonly NumberRequest[];
  readonly now: number;
}

const key = fc.constantFrom(...KEYS);
const issue = fc.record({
  act: fc.constant('issue' as const),
  key,
  period: fc.constantFrom(...PERIODS),
  isCurrent: fc.boolean(),
  by: fc.constant('app'),
});
const settle = fc.record({
  act: fc.constantFrom('confirm' as const, 'void' as const),
  key,
  by: fc.constant('app'),
  reason: fc.constant(undefined),
});
const call: fc.Arbitrary<Call> = fc.record({
  requests: fc.oneof(fc.array(issue, { minLength: 1, maxLength: 4 }), fc.tuple(settle)),
  // The clocks of servers differ.
  now: fc.integer({ min: 1000, max: 1100 }),
});

/** The tables, as transactions leave them. */
class Tables {
  readonly numbers = new Map<string, DocumentNumber>();
  readonly lines: JournalEntry[] = [];
  private heads = new Map<string, NumberHead>(
    PERIODS.map((period) => [period, { next: 1n, position: 0, hash: '', issuedAt: 0, continued: 0 }]),
  );

  constructor(
    private readonly reissue: boolean,
    private readonly max: bigint | undefined,
  ) {}

  /** One transaction for several calls; returns what they got. */
  carryOut(calls: readonly Call[]): (DocumentNumber[] | LeafError)[] {
    const settings = { reset: 'monthly', zone: 'UTC', first: 1n, max: this.max, pattern: undefined } as const;
    const isFree = ({ state }: DocumentNumber): boolean => this.reissue && state === 'void';
    const byNumber = [...this.numbers.values()].sort((a, b) => Number(a.number - b.number));
    const free = new Map(
      PERIODS.map((period) => [period, byNumber.filter((each) => each.period === period && isFree(each))]),
    );
    const state = {
      settings: { ...settings, reissue: this.reissue },
      known: new Map(this.numbers),
      heads: this.heads,
      free,
    };
    const ledger = new NumberLedger('invoice', state, seal, calls[0]!.now);
    const answers = calls.map(({ requests }) => {
      try {
        return ledger.carryOut(requests).map(({ number }) => number);
      } catch (error) {
        if (error instanceof LeafError) return error;
        throw error;
      }
    });
    for (const [written, number] of ledger.written) {
      expect(ledger.isInserted(written)).toBe(!this.numbers.has(written));
      this.numbers.set(written, number);
    }
    this.lines.push(...ledger.entries);
    this.heads = new Map(ledger.heads);
    return answers;
  }
}

function expectWhole(tables: Tables, reissue: boolean): void {
  for (const period of PERIODS) {
    const rows = [...tables.numbers.values()].filter((row) => row.period === period);
    const places = rows.map(({ number, turn }) => `${number} ${turn}`);
    expect(new Set(places).size).toBe(rows.length);
    const held = rows.filter(({ state }) => state !== 'reissued').sort((a, b) => Number(a.number - b.number));
    expect(held.map(({ number }) => number)).toEqual(held.map((_, index) => BigInt(index + 1)));
    if (!reissue) {
      const times = held.map(({ issuedAt }) => issuedAt);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    }
    let previous = '';
    const lines = tables.lines.filter((line) => line.period === period);
    for (const [index, line] of lines.entries()) {
      expect(line.position).toBe(index + 1);
      expect(seal.isIntact(previous, 'invoice', line)).toBe(true);
      previous = line.hash;
    }
    expect(lines.filter(({ event }) => event === 'issued')).toHaveLength(rows.length);
    expect(lines).toHaveLength(rows.length + rows.filter(({ settledAt }) => settledAt !== undefined).length);
  }
}

it.each([
  { reissue: false, max: undefined },
  { reissue: false, max: 3n },
  { reissue: true, max: undefined },
  { reissue: true, max: 2n },
])('documents have one number each, without a gap, whatever is asked: %j', ({ reissue, max }) => {
  fc.assert(
    fc.property(fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), (transactions) => {
      const tables = new Tables(reissue, max);
      const given = new Map<string, string>();
      for (const calls of transactions) {
        for (const [index, answer] of tables.carryOut(calls).entries()) {
          const { requests } = calls[index]!;
          if (answer instanceof LeafError) {
            expect(answer.code).toMatch(/^LEAF_(NUMBER_(EXISTS|NOT_FOUND|SETTLED)|TAG_EXHAUSTED)$/);
            continue;
          }
          expect(answer.map((number) => number.key)).toEqual(requests.map((request) => request.key));
          for (const { key: document, period, number } of answer) {
            const place = `${period} ${number}`;
            expect(given.get(document) ?? place).toBe(place);
            given.set(document, place);
            if (max !== undefined) expect(number <= max).toBe(true);
          }
        }
        expectWhole(tables, reissue);
      }
      // What was refused has left nothing.
      expect([...tables.numbers.keys()].sort()).toEqual([...given.keys()].sort());
    }),
    { numRuns: runs(150) },
  );
});
