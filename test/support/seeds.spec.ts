import * as fc from 'fast-check';
import { drawn, seedOfRun } from './seeds';

describe('the seed of a run', () => {
  const given = process.env.LEAF_TEST_SEED;
  afterEach(() => {
    if (given === undefined) delete process.env.LEAF_TEST_SEED;
    else process.env.LEAF_TEST_SEED = given;
  });

  it('is the date, unless another one is given', () => {
    delete process.env.LEAF_TEST_SEED;
    const before = new Date();
    const seed = String(seedOfRun());
    const dates = [before, new Date()].map((date) => date.toISOString().slice(0, 10).replaceAll('-', ''));
    expect(dates).toContain(seed);
    process.env.LEAF_TEST_SEED = '4711';
    expect(seedOfRun()).toBe(4711);
  });

  it.each(['0', '1.5', 'x', '', '2147483648'])('is not %j', (text) => {
    process.env.LEAF_TEST_SEED = text;
    expect(() => seedOfRun()).toThrow('LEAF_TEST_SEED must be a whole number from 1 to 2147483647.');
  });

  it('decides what a property tries, and its failure names the command that repeats it', async () => {
    process.env.LEAF_TEST_SEED = '4711';
    const tried: number[] = [];
    const property = fc.asyncProperty(fc.nat(), (value) => {
      tried.push(value);
      return Promise.resolve();
    });
    await fc.assert(property, drawn(20));
    await fc.assert(property, drawn(20));
    const half = tried.length / 2;
    expect(tried.slice(half)).toEqual(tried.slice(0, half));
    const failing = fc.property(fc.nat(), (value) => value < 10);
    expect(() => fc.assert(failing, drawn(500))).toThrow(
      /Counterexample: \[10\][^]*Once more: LEAF_TEST_SEED=4711 npx jest test\/support\/seeds\.spec\.ts$/,
    );
  });
});
