import { Ledger } from '../../versions/ledger';
import { faultOf, QUESTIONS } from '../../versions/tags';

describe('The ledger of a run of two versions', () => {
  it('finds an ID that two callers have, in one space only', () => {
    const ledger = new Ledger();
    const [first, second] = [ledger.history.addCaller('a'), ledger.history.addCaller('b')];
    ledger.add('tag order', first, 10n, 5);
    ledger.add('tag user', second, 10n, 5);
    ledger.add('tag order', second, 15n, 5);
    expect(ledger.duplicates()).toStrictEqual([]);
    ledger.add('tag order', first, 19n, 1);
    expect(ledger.duplicates()).toEqual([expect.stringContaining('"space":"tag order","from":"19","to":"19"')]);
    expect(Number(ledger.history.idsOf((space) => space === 'tag order'))).toBe(11);
  });

  it('finds a strict ID below one that was answered before', () => {
    const ledger = new Ledger();
    const call = (startedAt: number, from: number): void =>
      void ledger.strict.push({ caller: 'a', startedAt, endedAt: startedAt + 1, from, to: from });
    call(1, 5);
    call(3, 6);
    expect(ledger.disorder()).toStrictEqual([]);
    call(5, 4);
    expect(ledger.disorder()).toEqual(['strict: 4 began after the end of 6']);
  });
});

it.each([
  ['limited', 3000n, undefined],
  ['limited', 3001n, 'against its settings'],
  ['shared', 101n, undefined],
  ['shared', 200n, undefined],
  ['shared', 201n, 'against its settings'],
])('an ID of %s: %s is %s', (tag, id, fault) => {
  const question = QUESTIONS.find((each) => each.tag === tag)!;
  const found = faultOf(question, { space: `tag ${tag}`, ranges: [{ from: id, to: id }] });
  expect(found).toEqual(fault === undefined ? undefined : expect.stringContaining(fault));
});
