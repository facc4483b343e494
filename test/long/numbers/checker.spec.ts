import { createHash } from 'node:crypto';
import { faultsOf, type Given, type History, type StoredLine } from './checker';

function historyOf(count: number): History {
  const lines: StoredLine[] = [];
  let previous = '';
  for (let number = 1; number <= count; number++) {
    const values = ['2026-11', number, 'issued', String(number), 0, `k${number}`, 1000 + number, 'app', null] as const;
    const hash = createHash('sha256')
      .update(JSON.stringify([previous, 'invoice', ...values]))
      .digest('hex');
    const [period, position, event, , turn, doc_key, at_time, by_name, reason] = values;
    lines.push({ period, position, event, number, turn, doc_key, at_time, by_name, reason, hash });
    previous = hash;
  }
  const given = lines.map(({ period, number, doc_key: key }): Given => ({
    ...{ caller: 'c', key, period, number: Number(number), isNew: true },
    ...{ startedAt: 10 * Number(number), endedAt: 10 * Number(number) + 5 },
  }));
  const numbers = lines.map(({ period, number, doc_key, at_time }) => ({
    ...{ doc_key, period, number, state: 'issued', issued_at: at_time },
  }));
  return { tag: 'invoice', given, documents: new Map([['k1', 1]]), numbers, lines };
}

/** The history with another row in place of the one at `index`, or without it. */
function changed<Item>(items: readonly Item[], index: number, change: Partial<Item> | undefined): Item[] {
  return items.flatMap((item, at) => (at !== index ? [item] : change === undefined ? [] : [{ ...item, ...change }]));
}

it('finds nothing in a history without a fault', () => {
  expect(faultsOf(historyOf(5))).toStrictEqual([]);
});

const whole = historyOf(5);

it.each<[string, Partial<History>, RegExp]>([
  ['a missing number', { numbers: changed(whole.numbers, 2, undefined) }, /3 to 3 are missing/],
  ['a number twice', { numbers: changed(whole.numbers, 2, { number: 2 }) }, /2 is given twice/],
  ['another number than the caller got', { given: changed(whole.given, 1, { number: 4 }) }, /c got 4/],
  ['a key with two rows', { numbers: [...whole.numbers, { ...whole.numbers[0]!, number: 6 }] }, /a key has two rows/],
  ['a document with another number', { documents: new Map([['k2', 1]]) }, /document k2 has 1/],
  ['a document without a row', { documents: new Map([['x', 1]]) }, /document x has 1/],
  ['a date before that of the number below', { numbers: changed(whole.numbers, 3, { issued_at: 1 }) }, /4 is older/],
  [
    'a lower number for a later call',
    { given: changed(whole.given, 0, { startedAt: 90, endedAt: 95 }) },
    /1 began after/,
  ],
  ['a changed line', { lines: changed(whole.lines, 1, { by_name: 'me' }) }, /line 2 is wrong/],
  ['a line that is gone', { lines: changed(whole.lines, 4, undefined) }, /5 is not in the journal/],
  ['a row that is gone', { numbers: changed(whole.numbers, 4, undefined) }, /in the journal alone/],
])('finds %s', (_, change, sign) => {
  expect(faultsOf({ ...whole, ...change })).toEqual(expect.arrayContaining([expect.stringMatching(sign)]));
});
