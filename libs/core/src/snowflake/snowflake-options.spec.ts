import { object } from '../util/options';
import { DEFAULT_LAYOUT, layoutRule } from './bit-layout';
import { DEFAULT_SNOWFLAKE_OPTIONS, SNOWFLAKE_RULES } from './snowflake-options';

describe('the options of a snowflake generator', () => {
  const faults = (options: object): string[] => object(SNOWFLAKE_RULES)(options, '').map(({ path }) => path);

  it('are all optional, from 0', () => {
    expect(DEFAULT_SNOWFLAKE_OPTIONS).toEqual({ maxBackwardsMs: 5, waitMs: 1000, sequenceStart: 1024 });
    for (const options of [{}, DEFAULT_SNOWFLAKE_OPTIONS, { maxBackwardsMs: 0, waitMs: 0, sequenceStart: 0 }])
      expect(faults(options)).toStrictEqual([]);
  });

  it.each([
    ['maxBackwardsMs', -1],
    ['maxBackwardsMs', 2 ** 31],
    ['waitMs', -1],
    ['waitMs', 0.5],
    ['sequenceStart', -1],
    ['sequenceStart', '1'],
    ['layout', 1],
  ])('cannot have %s %p', (name, value) => expect(faults({ [name]: value })).toEqual([name]));
});

describe('the option of a layout', () => {
  const faults = (layout: object | undefined): string[] => layoutRule(layout, 'layout').map(({ path }) => path);

  it('is a layout that exists', () => {
    for (const layout of [undefined, DEFAULT_LAYOUT, { ...DEFAULT_LAYOUT, datacenterBits: 0, epoch: 0 }])
      expect(faults(layout)).toStrictEqual([]);
    expect(layoutRule({ ...DEFAULT_LAYOUT, timeBits: 42 }, 'layout')).toEqual([
      { path: 'layout', fault: expect.stringContaining('the bits add up to 64') as string },
    ]);
  });

  it.each([
    [{ timeBits: undefined }, 'timeBits'],
    [{ workerBits: undefined }, 'workerBits'],
    [{ sequenceBits: undefined }, 'sequenceBits'],
    [{ epoch: undefined }, 'epoch'],
    [{ timeBits: 0 }, 'timeBits'],
    [{ workerBits: 0.5 }, 'workerBits'],
    [{ sequenceBits: 0 }, 'sequenceBits'],
    [{ epoch: -1 }, 'epoch'],
    [{ datacenterBits: -1 }, 'datacenterBits'],
    [{ bits: 1 }, 'bits'],
  ])('cannot have %j', (change, name) => expect(faults({ ...DEFAULT_LAYOUT, ...change })).toEqual([`layout.${name}`]));
});
