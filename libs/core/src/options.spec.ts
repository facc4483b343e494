import { assertCount, numberFaults, refuseFaults } from './options';

describe('numbers among options', () => {
  const rules = { waitMs: { min: 0 }, ratio: { min: 0.001, max: 1, fraction: true }, size: { min: 1, max: 10 } };

  it('have no faults when they fit', () => {
    expect(numberFaults({ waitMs: 0, ratio: 0.5, size: 10, more: 'x' }, rules)).toEqual([]);
  });

  it.each([
    [{ waitMs: NaN }, 'waitMs must be a whole number of 0 or more, not NaN'],
    [{ waitMs: -1 }, 'waitMs must be a whole number of 0 or more, not -1'],
    [{ waitMs: 1.5 }, 'waitMs must be a whole number of 0 or more, not 1.5'],
    [{ waitMs: '5' }, 'waitMs must be a whole number of 0 or more, not "5"'],
    [{ waitMs: undefined }, 'waitMs must be a whole number of 0 or more, not undefined'],
    [{ waitMs: Infinity }, 'waitMs must be a whole number of 0 or more, not Infinity'],
    [{ size: 11 }, 'size must be a whole number from 1 to 10, not 11'],
    [{ ratio: 7 }, 'ratio must be a number from 0.001 to 1, not 7'],
  ])('%j is a fault', (values, fault) => {
    expect(numberFaults({ waitMs: 1, ratio: 1, size: 1, ...values }, rules)).toEqual([fault]);
  });

  it('are refused with every fault at once', () => {
    const code = 'LEAF_CONFIG_INVALID';
    const message = 'The options of it are invalid:\n  - a\n  - b';
    expect(() => {
      refuseFaults('it', ['a', 'b']);
    }).toThrow(expect.objectContaining({ code, message }));
    refuseFaults('it', []);
  });
});

describe('assertCount', () => {
  it('accepts whole numbers from 1 to the maximum', () => {
    for (const count of [1, 10]) expect(() => assertCount(count, 10)).not.toThrow();
  });

  it.each([0, 11, 1.5, NaN, -1])('refuses %d', (count) => {
    expect(() => assertCount(count, 10)).toThrow(expect.objectContaining({ code: 'LEAF_SIZE_INVALID' }));
  });
});
