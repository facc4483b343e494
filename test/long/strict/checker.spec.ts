import * as fc from 'fast-check';
import { check, type Operation, operationOf } from './checker';

/** A call from `startedAt` to `endedAt` that got one ID, or those to `to`. */
function call(startedAt: number, endedAt: number, from: number, to = from): Operation {
  return { caller: 'c', startedAt, endedAt, from, to };
}

/** All pairs: slow, and plainly right. */
function pairs(operations: readonly Operation[]): Set<Operation> {
  const late = operations.filter((later) =>
    operations.some((earlier) => earlier.endedAt < later.startedAt && later.from <= earlier.to),
  );
  return new Set(late);
}

describe('the checker of histories', () => {
  it.each<[string, Operation[]]>([
    ['nothing', []],
    ['one call after the other', [call(0, 1, 1), call(2, 3, 2), call(4, 5, 3)]],
    ['calls at the same time, in either order', [call(0, 9, 2), call(1, 8, 1), call(2, 7, 3)]],
    ['a call that starts at the moment of an answer', [call(0, 5, 2), call(5, 6, 1)]],
    ['ranges and gaps', [call(0, 1, 1, 100), call(2, 3, 500, 500), call(2, 4, 101, 499)]],
  ])('passes %s', (_, operations) => {
    expect(check(operations)).toEqual({ violations: [], disordered: [], duplicates: 0 });
    expect(check([...operations].reverse())).toEqual({ violations: [], disordered: [], duplicates: 0 });
  });

  it('finds a lower ID of a call that started later', () => {
    const [earlier, between, later] = [call(0, 1, 7), call(2, 3, 8), call(4, 5, 5)];
    expect(check([later, earlier, between])).toMatchObject({
      violations: [{ earlier: between, later }],
      duplicates: 0,
    });
  });

  it('finds it across a long call in between', () => {
    const [long, earlier, later] = [call(0, 100, 3), call(1, 2, 9), call(3, 4, 4)];
    expect(check([long, earlier, later]).violations).toEqual([{ earlier, later }]);
  });

  it('finds a buffered ID that is given when another server has gone on', () => {
    const history = [call(0, 1, 1), call(2, 3, 3), call(4, 5, 2)];
    expect(check(history).violations).toEqual([{ earlier: history[1], later: history[2] }]);
  });

  it('finds a range that begins below', () => {
    const history = [call(0, 1, 10, 20), call(2, 3, 5, 9)];
    expect(check(history).violations).toHaveLength(1);
  });

  it('finds every duplicate, of calls at the same time, too', () => {
    expect(check([call(0, 9, 5), call(0, 9, 5)])).toMatchObject({ violations: [], duplicates: 1 });
    expect(check([call(0, 9, 1, 10), call(0, 9, 4, 6), call(0, 9, 6, 12)]).duplicates).toBe(3 + 5);
    expect(check([call(0, 1, 5), call(2, 3, 5)])).toMatchObject({ violations: [expect.anything()], duplicates: 1 });
  });

  it('judges answers whose IDs do not follow on each other', () => {
    const answer = (startedAt: number, ...ids: number[]): Operation =>
      operationOf({ caller: 'c', startedAt, endedAt: startedAt + 1 }, ids);
    const run = answer(0, 4, 5, 6);
    expect(run).toEqual(call(0, 1, 4, 6));
    expect(check([run, answer(2, 7, 9)])).toEqual({ violations: [], disordered: [], duplicates: 0 });
    const [twice, falling] = [answer(2, 7, 7, 8), answer(4, 20, 10)];
    expect(check([run, twice, falling])).toEqual({ violations: [], disordered: [twice, falling], duplicates: 1 });
    expect(check([run, answer(2, 9, 5)])).toMatchObject({ violations: [{ earlier: run }], duplicates: 1 });
  });

  it('finds exactly what the comparison of all pairs finds', () => {
    const operation = fc
      .tuple(fc.nat(30), fc.nat(10), fc.nat(30), fc.nat(3))
      .map(([start, took, from, more]) => call(start, start + took, from, from + more));
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 30 }), (operations) => {
        const { violations } = check(operations);
        expect(new Set(violations.map(({ later }) => later))).toEqual(pairs(operations));
      }),
      { numRuns: 2000 },
    );
  });
});
