import { object } from '../../util/options';
import { DEFAULT_SEGMENT_OPTIONS, nextStep, SEGMENT_RULES } from './segment-options';

const T = 900_000;
const options = { durationMs: T, maxStep: 1_000_000 };

describe('nextStep', () => {
  it.each([
    ['below T: doubles', 2000, 2000, 0, 4000],
    ['just below T: doubles', 2000, 2000, T - 1, 4000],
    ['T: keeps', 4000, 2000, T, 4000],
    ['just below 2T: keeps', 4000, 2000, 2 * T - 1, 4000],
    ['2T: halves', 8000, 2000, 2 * T, 4000],
    ['far above 2T: halves once', 8000, 2000, 1000 * T, 4000],
    ['halves an odd step downwards', 4001, 1, 2 * T, 2000],
    ['does not double above the maximum', 600_000, 2000, 0, 1_000_000],
    ['stays at the maximum', 1_000_000, 2000, 0, 1_000_000],
    ['does not halve below the step in the database', 3000, 2000, 2 * T, 2000],
    ['keeps the step in the database when idle', 2000, 2000, 2 * T, 2000],
    ['never gets to 0', 1, 1, 2 * T, 1],
    ['a step raised in the database counts when busy, and doubles', 4000, 50_000, 0, 100_000],
    ['a step raised in the database applies immediately', 4000, 50_000, T, 50_000],
    ['a step raised in the database counts when idle', 4000, 50_000, 2 * T, 50_000],
    ['a step lowered in the database lets it halve further', 4000, 10, 2 * T, 2000],
    ['a step in the database above the maximum is kept when busy', 5_000_000, 5_000_000, 0, 5_000_000],
    ['a step in the database above the maximum is kept', 5_000_000, 5_000_000, T, 5_000_000],
    ['a step in the database raised above the maximum counts', 4000, 5_000_000, 0, 5_000_000],
    ['a step above a lowered maximum falls to it when busy', 3_000_000, 2000, 0, 1_000_000],
    ['a step above a lowered maximum falls to it', 3_000_000, 2000, T, 1_000_000],
    ['a step above a lowered maximum falls to it when idle', 3_000_000, 2000, 2 * T, 1_000_000],
  ])('%s', (_, step, databaseStep, elapsedMs, expected) => {
    expect(nextStep(step, databaseStep, elapsedMs, options)).toBe(expected);
  });

  it('goes from 2000 to the maximum in nine loads under load, and back when idle', () => {
    const up: number[] = [];
    for (let step = 2000; up.at(-1) !== 1_000_000; up.push(step)) step = nextStep(step, 2000, 1, options);
    expect(up).toEqual([4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_000_000]);
    let step = 1_000_000;
    for (let i = 0; i < 20; i++) step = nextStep(step, 2000, 2 * T, options);
    expect(step).toBe(2000);
  });
});

describe('The options of segments', () => {
  const check = object(SEGMENT_RULES);

  it('have defaults that are valid, as are all of their bounds', () => {
    expect(DEFAULT_SEGMENT_OPTIONS).toEqual({ prefetchRatio: 0.1, waitMs: 1000, durationMs: T, maxStep: 1_000_000 });
    expect(check(DEFAULT_SEGMENT_OPTIONS, '')).toStrictEqual([]);
    expect(check({ prefetchRatio: 0.001, waitMs: 0, durationMs: 1, maxStep: 1 }, '')).toStrictEqual([]);
    expect(check({ prefetchRatio: 1, waitMs: 2 ** 31 - 1 }, '')).toStrictEqual([]);
  });

  it('are refused beyond them', () => {
    const faults = check({ prefetchRatio: 0, waitMs: -1, durationMs: 0, maxStep: 0 }, '');
    expect(faults.map(({ path }) => path)).toEqual(['prefetchRatio', 'waitMs', 'durationMs', 'maxStep']);
    expect(check({ prefetchRatio: 1.1, waitMs: 2 ** 31, maxStep: 1.5 }, '')).toHaveLength(3);
  });
});
