import { MAX_ID } from '../segment/tags/id-range';
import type { DocumentNumber, GaplessSettings, NumberRequest } from './document-number';
import { type JournalEntry, JournalSeal } from './number-journal';
import { type NumberHead, NumberLedger, type NumberState } from './number-ledger';

const NOW = 1_700_000_000_000;
const SETTINGS: GaplessSettings = {
  ...{ reset: undefined, zone: undefined, first: 1n, max: undefined, pattern: undefined, reissue: false },
};
const NEW: NumberHead = { next: 1n, position: 0, hash: '', issuedAt: 0, continued: 0 };
const SEAL = new JournalSeal();

interface Given extends Partial<Omit<NumberState, 'settings' | 'known' | 'free'>> {
  readonly max?: bigint;
  readonly head?: Partial<NumberHead>;
  readonly known?: readonly DocumentNumber[];
  readonly free?: readonly DocumentNumber[];
  readonly seal?: JournalSeal;
}

function ledger({ max, head, heads, known = [], free, seal = SEAL }: Given = {}): NumberLedger {
  const state = {
    settings: { ...SETTINGS, max },
    known: new Map(known.map((number) => [number.key, number])),
    heads: heads ?? new Map([['', { ...NEW, ...head }]]),
    free: new Map(free && [['', free]]),
  };
  return new NumberLedger('invoice', state, seal, NOW);
}

function number(key: string, value: bigint, change: Partial<DocumentNumber> = {}): DocumentNumber {
  return {
    ...{ key, period: '', number: value, turn: 0, state: 'issued', issuedAt: NOW - 1, issuedBy: 'shop' },
    ...{ settledAt: undefined, settledBy: undefined, reason: undefined, ...change },
  };
}

/** A void number to give out again. */
function voided(key: string, value: bigint, turn = 0): DocumentNumber {
  return number(key, value, { turn, state: 'void', settledAt: NOW, settledBy: 'shop', reason: 'torn' });
}

function issue(key: string, period = '', isCurrent = false): NumberRequest {
  return { act: 'issue', key, period, isCurrent, by: 'shop' };
}

function settle(act: 'confirm' | 'void', key: string): NumberRequest {
  return { act, key, by: 'till', reason: act === 'void' ? 'torn' : undefined };
}

function take(from: NumberLedger, ...keys: string[]): bigint[] {
  return from.carryOut(keys.map((key) => issue(key))).map((answer) => answer.number.number);
}

/** What it says it will write about each number. */
function told({ entries }: NumberLedger): unknown[] {
  return entries.map(({ position, event, number: value, turn, key }) => [position, event, value, turn, key]);
}

function expectUnchanged({ written, heads, entries }: NumberLedger, head: NumberHead = NEW): void {
  expect([written.size, heads.get(''), entries]).toEqual([0, head, []]);
}

it('Each number is the one after the last, with a line of the journal that continues the chain', () => {
  const one = ledger({ head: { next: 8n, position: 3, hash: 'before' } });
  expect(take(one, 'a', 'b')).toEqual([8n, 9n]);
  expect(told(one)).toEqual([
    [4, 'issued', 8n, 0, 'a'],
    [5, 'issued', 9n, 0, 'b'],
  ]);
  const [first, second] = one.entries as [JournalEntry, JournalEntry];
  expect([SEAL.isIntact('before', 'invoice', first), SEAL.isIntact(first.hash, 'invoice', second)]).toEqual([
    true,
    true,
  ]);
  expect(one.heads.get('')).toEqual({ next: 10n, position: 5, hash: second.hash, issuedAt: NOW, continued: 0 });
  expect([...one.written.values()]).toEqual([number('a', 8n, { issuedAt: NOW }), number('b', 9n, { issuedAt: NOW })]);
  expect([one.isInserted('a'), one.isInserted('b')]).toEqual([true, true]);
});

it('A key has one number, in one call and in several', () => {
  const one = ledger({ head: { next: 8n }, known: [number('a', 7n)] });
  const answers = one.carryOut(['a', 'b', 'b'].map((key) => issue(key)));
  expect(answers.map((answer) => [answer.number.number, answer.isNew])).toEqual([
    [7n, false],
    [8n, true],
    [8n, false],
  ]);
  expect(take(one, 'b', 'c')).toEqual([8n, 9n]);
  expect([one.isInserted('a'), one.isInserted('b')]).toEqual([false, true]);
});

it('A time before that of the last number does not change the order', () => {
  const one = ledger({ head: { issuedAt: NOW + 5 } });
  for (const request of [issue('a'), settle('confirm', 'a')]) one.carryOut([request]);
  expect(one.written.get('a')).toMatchObject({ issuedAt: NOW + 5, settledAt: NOW + 5 });
  expect(one.entries.map(({ at }) => at)).toEqual([NOW + 5, NOW + 5]);
  expect(one.heads.get('')?.issuedAt).toBe(NOW + 5);
});

describe('The largest number', () => {
  it('is the max of the tag, all of a call or none', () => {
    const one = ledger({ head: { next: 4n }, max: 5n });
    expect(() => take(one, 'a', 'b', 'c')).toThrow('3 more would exceed its max, 5');
    expectUnchanged(one, { ...NEW, next: 4n });
    expect(take(one, 'a', 'b', 'b')).toEqual([4n, 5n, 5n]);
    expect(() => take(one, 'c')).toThrow(expect.objectContaining({ code: 'LEAF_TAG_EXHAUSTED' }));
  });

  it('is one less than the largest ID without a max', () => {
    const one = ledger({ head: { next: MAX_ID - 1n } });
    expect(() => take(one, 'a', 'b')).toThrow(`${MAX_ID - 1n}`);
    expect(take(one, 'a')).toEqual([MAX_ID - 1n]);
  });

  it('does not count void numbers that are given out again', () => {
    const one = ledger({ head: { next: 5n }, max: 5n, free: [voided('x', 2n)] });
    expect(() => take(one, 'a', 'b', 'c')).toThrow('2 more would exceed');
    expect(take(one, 'a', 'b')).toEqual([2n, 5n]);
  });

  it('does not keep a document from a void number when it has been lowered', () => {
    expect(take(ledger({ head: { next: 11n }, max: 5n, free: [voided('x', 3n)] }), 'a')).toEqual([3n]);
    expect(take(ledger({ head: { next: 11n }, max: 5n, free: [voided('x', 3n), voided('y', 4n)] }), 'a')).toEqual([3n]);
  });
});

describe('A void number that is given out again', () => {
  it('is the lowest one, in its next turn, and stays with the document before as reissued', () => {
    const one = ledger({ head: { next: 9n }, free: [voided('x', 2n, 1), voided('y', 5n)] });
    expect(take(one, 'a')).toEqual([2n]);
    expect(one.written.get('x')).toEqual({ ...voided('x', 2n, 1), state: 'reissued' });
    expect(one.written.get('a')).toMatchObject({ turn: 2, state: 'issued' });
    expect(one.written.has('y')).toBe(false);
    expect([one.isInserted('x'), one.isInserted('a')]).toEqual([false, true]);
    expect(one.heads.get('')).toMatchObject({ next: 9n, position: 1 });
    expect(take(one, 'b', 'c')).toEqual([5n, 9n]);
  });

  it('is not taken from what was read', () => {
    const free = [voided('x', 2n)];
    take(ledger({ free }), 'a');
    expect(free).toHaveLength(1);
  });
});

describe('Settling', () => {
  const state = { head: { next: 3n }, known: [number('a', 1n), number('b', 2n)] };

  it('confirms a number, or makes it void, once', () => {
    const one = ledger(state);
    const first = one.carryOut([settle('confirm', 'a'), settle('void', 'b')]);
    expect(first.map((answer) => answer.isNew)).toEqual([true, true]);
    expect(one.written.get('a')).toEqual(number('a', 1n, { state: 'confirmed', settledAt: NOW, settledBy: 'till' }));
    expect(one.written.get('b')).toEqual({ ...voided('b', 2n), settledBy: 'till' });
    expect(told(one)).toEqual([
      [1, 'confirmed', 1n, 0, 'a'],
      [2, 'void', 2n, 0, 'b'],
    ]);
    const again = one.carryOut([settle('confirm', 'a'), settle('void', 'b')]);
    expect([again.map((answer) => answer.isNew), one.entries.length]).toEqual([[false, false], 2]);
    expect(one.isInserted('a')).toBe(false);
  });

  it.each([
    ['void', 'confirmed'],
    ['confirm', 'void'],
    ['confirm', 'reissued'],
  ] as const)('does not %s a number that is %s', (act, before) => {
    const one = ledger({ known: [number('a', 1n, { state: before })] });
    expect(() => one.carryOut([issue('b'), settle(act, 'a')])).toThrow(
      expect.objectContaining({ code: 'LEAF_NUMBER_SETTLED' }),
    );
    expectUnchanged(one);
  });

  it('keeps a void number void that was given out again', () => {
    const one = ledger({ known: [number('a', 1n, { state: 'reissued' })] });
    expect(one.carryOut([settle('void', 'a')])).toMatchObject([{ isNew: false, number: { state: 'reissued' } }]);
    expectUnchanged(one);
  });

  it('refuses a document without a number', () => {
    const one = ledger();
    expect(() => one.carryOut([issue('b'), settle('confirm', 'a')])).toThrow(
      expect.objectContaining({ code: 'LEAF_NUMBER_NOT_FOUND' }),
    );
    expectUnchanged(one);
  });
});

describe('A document with a number of another period', () => {
  const heads = new Map(['2026-10', '2026-11'].map((period) => [period, NEW]));
  const known = [number('a', 7n, { period: '2026-10' })];

  it('gets no second one', () => {
    const one = ledger({ heads, known });
    expect(() => one.carryOut([issue('b', '2026-11'), issue('a', '2026-11')])).toThrow(
      expect.objectContaining({ code: 'LEAF_NUMBER_EXISTS' }),
    );
    expect([one.entries, one.written.size]).toEqual([[], 0]);
  });

  it('keeps it if the caller named no date', () => {
    const answers = ledger({ heads, known }).carryOut([issue('a', '2026-11', true), issue('a', '2026-10')]);
    expect(answers.map((answer) => answer.number.number)).toEqual([7n, 7n]);
  });

  it('has its own numbers in each period', () => {
    const one = ledger({ heads });
    const answers = one.carryOut([issue('b', '2026-10'), issue('c', '2026-11'), issue('d', '2026-10')]);
    expect(answers.map((answer) => answer.number.number)).toEqual([1n, 1n, 2n]);
    expect(one.entries.map(({ period, position }) => [period, position])).toEqual([
      ['2026-10', 1],
      ['2026-11', 1],
      ['2026-10', 2],
    ]);
  });
});

describe('A period whose end is not certain', () => {
  const lost = expect.objectContaining({ code: 'LEAF_NUMBERS_HISTORY_LOST' }) as Error;
  const heads = new Map<string, NumberHead>();

  it('gives no number, and settles none', () => {
    const one = ledger({ heads, known: [number('a', 1n)] });
    expect(() => take(one, 'b')).toThrow(lost);
    expect(() => one.carryOut([settle('confirm', 'a')])).toThrow(lost);
    expect([one.written.size, one.entries]).toEqual([0, []]);
  });

  it('has the numbers that are on record', () => {
    const one = ledger({ heads, known: [number('a', 1n), number('b', 2n, { state: 'confirmed' })] });
    expect(one.carryOut([issue('a'), settle('confirm', 'b')])).toMatchObject([{ isNew: false }, { isNew: false }]);
  });
});

it('A journal that is sealed with a key is not continued without it', () => {
  const sealed = ledger({ seal: new JournalSeal('a secret') });
  take(sealed, 'a');
  const head = sealed.heads.get('')!;
  const one = ledger({ head, known: [number('a', 1n)], free: [voided('x', 1n)] });
  for (const request of [issue('b'), settle('confirm', 'a')]) {
    expect(() => one.carryOut([request])).toThrow(expect.objectContaining({ code: 'LEAF_TAG_ROW_INVALID' }));
  }
  expect(() => one.skip('', 5n, 'admin', 'lost')).toThrow(expect.objectContaining({ code: 'LEAF_TAG_ROW_INVALID' }));
  expect([one.written.size, one.entries]).toEqual([0, []]);
});

describe('Going on after a number', () => {
  const skip = (one: NumberLedger, last: bigint): number => one.skip('', last, 'admin', 'lost');

  it('makes the numbers up to it void, under keys that no document has', () => {
    const one = ledger({ head: { next: 3n, continued: 4 } });
    expect(skip(one, 4n)).toBe(2);
    const gone = { state: 'void', reason: 'lost', issuedBy: 'admin', settledBy: 'admin' };
    expect([...one.written.values()]).toMatchObject([
      { ...gone, key: '~skipped~~3', number: 3n },
      { ...gone, key: '~skipped~~4', number: 4n },
    ]);
    expect(told(one).map((line) => (line as unknown[]).slice(0, 3))).toEqual([
      [1, 'issued', 3n],
      [2, 'void', 3n],
      [3, 'issued', 4n],
      [4, 'void', 4n],
    ]);
    expect(one.heads.get('')).toMatchObject({ next: 5n, position: 4, continued: 5 });
    expect(take(one, 'a')).toEqual([5n]);
  });

  it('may skip none, and goes back to none', () => {
    const one = ledger({ head: { next: 3n } });
    expect(() => skip(one, 1n)).toThrow('numbers up to 2: lastNumber must be at least that, not 1');
    expectUnchanged(one, { ...NEW, next: 3n });
    expect(skip(one, 2n)).toBe(0);
    expect([one.written.size, one.heads.get('')]).toEqual([0, { ...NEW, next: 3n, continued: 1 }]);
  });

  it.each([
    [100_000n, 'LEAF_TAG_EXHAUSTED'],
    [100_001n, 'LEAF_BODY_INVALID'],
  ])('skips at most 100000 in one call, and none above the max: %d', (last, code) => {
    const one = ledger({ max: 99_999n });
    expect(() => skip(one, last)).toThrow(expect.objectContaining({ code }));
    expect([one.written.size, one.entries]).toEqual([0, []]);
  });
});
