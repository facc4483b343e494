import {
  BitLayout,
  DEFAULT_EPOCH,
  defaultLayout,
  parseLayout,
  type BitLayoutOptions,
  type SnowflakeParts,
} from './bit-layout';

const STANDARD: BitLayoutOptions = { timeBits: 41, workerBits: 10, sequenceBits: 12, epoch: DEFAULT_EPOCH };

describe('BitLayout', () => {
  it('has the layout of the Java service by default', () => {
    expect(defaultLayout()).toMatchObject({
      ...STANDARD,
      epoch: Date.parse('2010-11-04T01:42:54.657Z'),
      maxWorkerId: 1023,
      maxSequence: 4095,
      maxTimestamp: DEFAULT_EPOCH + 2 ** 41 - 1,
      maxId: 2n ** 63n - 1n,
    });
  });

  it.each<[string, Partial<BitLayoutOptions>, string]>([
    ['too few time bits', { timeBits: 30 }, 'time bits must be a whole number from 31 to 52, not 30'],
    ['too many time bits', { timeBits: 53, workerBits: 4, sequenceBits: 4, epoch: 0 }, 'time bits'],
    ['a broken number of time bits', { timeBits: 40.5 }, 'time bits'],
    ['no number of time bits', { timeBits: NaN }, 'time bits'],
    ['no worker bits', { workerBits: 0 }, 'worker bits must be a whole number from 1 to 22, not 0'],
    ['too many worker bits', { timeBits: 31, workerBits: 23, sequenceBits: 1 }, 'worker bits'],
    ['negative worker bits', { workerBits: -1 }, 'worker bits'],
    ['no sequence bits', { sequenceBits: 0 }, 'sequence bits must be a whole number from 1 to 22, not 0'],
    ['too many sequence bits', { timeBits: 31, workerBits: 1, sequenceBits: 23 }, 'sequence bits'],
    ['infinite sequence bits', { sequenceBits: Infinity }, 'sequence bits'],
    [
      'data center bits without machine bits',
      { datacenterBits: 10 },
      'data center bits must be a whole number from 0 to 9, not 10',
    ],
    ['a negative number of data center bits', { datacenterBits: -1 }, 'data center bits'],
    ['a sum of 64', { sequenceBits: 13 }, 'the bits add up to 64'],
    ['a negative epoch', { epoch: -1 }, 'the epoch must be a whole number of Unix milliseconds, 0 or more, not -1'],
    ['a broken epoch', { epoch: 0.5 }, '0 or more, not 0.5'],
    ['an epoch in seconds', { epoch: 1_704_067_200 }, 'in milliseconds it is 1704067200000'],
    ['an epoch beyond safe integers', { epoch: 2 ** 53 }, '0 or more, not 9007199254740992'],
    ['an epoch that leaves no safe end', { epoch: 2 ** 53 - 2 ** 40 }, 'is too late for 41 time bits'],
  ])('refuses %s', (_, wrong, problem) => {
    expect(() => new BitLayout({ ...STANDARD, ...wrong })).toThrow(
      expect.objectContaining({
        code: 'LEAF_LAYOUT_INVALID',
        message: expect.stringContaining(problem),
      }) as Error,
    );
  });

  it.each<[string, BitLayoutOptions]>([
    ['the least bits', { timeBits: 31, workerBits: 1, sequenceBits: 1, epoch: 0 }],
    ['the most time bits', { timeBits: 52, workerBits: 1, sequenceBits: 10, epoch: 0 }],
    ['the most worker bits', { timeBits: 40, workerBits: 22, sequenceBits: 1, epoch: 0 }],
    ['the most sequence bits', { timeBits: 40, workerBits: 1, sequenceBits: 22, epoch: 0 }],
    ['the latest epoch', { ...STANDARD, epoch: 2 ** 53 - 2 ** 41 }],
    ['the earliest epoch in milliseconds', { ...STANDARD, epoch: 32_503_680_000 }],
  ])('takes %s', (_, options) => {
    const layout = new BitLayout(options);
    const highest = {
      timestamp: layout.maxTimestamp,
      workerId: layout.maxWorkerId,
      sequence: layout.maxSequence,
    };
    expect(layout.compose(highest)).toBe(layout.maxId);
    expect(layout.decompose(layout.maxId)).toEqual(highest);
    expect(layout.decompose(0n)).toEqual({ timestamp: options.epoch, workerId: 0, sequence: 0 });
  });

  it('decodes an ID of the Java service', () => {
    const parts = { timestamp: 1_567_733_700_834, workerId: 39, sequence: 3448 };
    expect(defaultLayout().decompose(1_169_786_042_799_259_000n)).toEqual(parts);
    expect(defaultLayout().compose(parts)).toBe(1_169_786_042_799_259_000n);
  });

  it('places each field above the next', () => {
    const layout = defaultLayout();
    const zero = { timestamp: DEFAULT_EPOCH, workerId: 0, sequence: 0 };
    expect(layout.compose(zero)).toBe(0n);
    expect(layout.compose({ ...zero, sequence: 1 })).toBe(1n);
    expect(layout.compose({ ...zero, workerId: 1 })).toBe(1n << 12n);
    expect(layout.compose({ ...zero, timestamp: DEFAULT_EPOCH + 1 })).toBe(1n << 22n);
  });

  it('ends when the time bits are used up', () => {
    const layout = defaultLayout();
    expect(layout.compose({ timestamp: layout.maxTimestamp, workerId: 0, sequence: 0 })).toBe(
      ((1n << 41n) - 1n) << 22n,
    );
    expect(() => layout.compose({ timestamp: layout.maxTimestamp + 1, workerId: 0, sequence: 0 })).toThrow(RangeError);
  });

  it('divides the worker ID into data center and machine, with the IDs and the fingerprint of one number', () => {
    const divided = new BitLayout({ ...STANDARD, datacenterBits: 3 });
    const parts = { timestamp: DEFAULT_EPOCH + 5, workerId: 0b101_0000011, sequence: 9 };
    expect(divided.compose(parts)).toBe(defaultLayout().compose(parts));
    expect(divided.decompose(divided.compose(parts))).toEqual({ ...parts, datacenterId: 5, machineId: 3 });
    expect(divided.fingerprint).toBe(defaultLayout().fingerprint);
    expect(Object.keys(defaultLayout().decompose(7n))).toEqual(['timestamp', 'workerId', 'sequence']);
  });

  it('keeps IDs of 53 bits in the safe integers', () => {
    const layout = new BitLayout({ timeBits: 41, workerBits: 4, sequenceBits: 8, epoch: DEFAULT_EPOCH });
    const parts = { timestamp: layout.maxTimestamp, workerId: 15, sequence: 255 };
    expect(Number(layout.compose(parts))).toBe(Number.MAX_SAFE_INTEGER);
    expect(layout.decompose(BigInt(Number.MAX_SAFE_INTEGER))).toEqual(parts);
    expect(() => layout.decompose(BigInt(Number.MAX_SAFE_INTEGER) + 1n)).toThrow(
      expect.objectContaining({ code: 'LEAF_ID_INVALID' }) as Error,
    );
  });

  // Time and worker ID together have more bits than a double holds.
  it('decodes worker IDs of layouts with a short sequence', () => {
    const layout = new BitLayout({ timeBits: 41, workerBits: 14, sequenceBits: 8, epoch: 0 });
    const parts = { timestamp: 2 ** 40 + 1, workerId: 5, sequence: 3 };
    expect(layout.decompose(layout.compose(parts))).toEqual(parts);
  });

  it('computes the end of its epoch to the millisecond, and rejects one past 2^53', () => {
    const last = 2 ** 53 - 2 ** 41;
    const bits = { timeBits: 41, workerBits: 10, sequenceBits: 12 };
    expect(new BitLayout({ ...bits, epoch: last }).maxTimestamp).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => new BitLayout({ ...bits, epoch: last + 1 })).toThrow(
      expect.objectContaining({ code: 'LEAF_LAYOUT_INVALID' }),
    );
  });

  it.each<[string, Partial<SnowflakeParts>, string]>([
    ['a timestamp before the epoch', { timestamp: DEFAULT_EPOCH - 1 }, 'timestamp'],
    ['a broken timestamp', { timestamp: DEFAULT_EPOCH + 0.5 }, 'timestamp'],
    ['a negative worker ID', { workerId: -1 }, 'worker ID -1'],
    ['a worker ID too high', { workerId: 1024 }, 'worker ID 1024 does not fit the layout: use 0 to 1023'],
    ['a negative sequence', { sequence: -1 }, 'sequence -1'],
    ['a sequence too high', { sequence: 4096 }, 'sequence 4096 does not fit the layout: use 0 to 4095'],
    ['NaN', { sequence: NaN }, 'sequence NaN'],
  ])('does not compose %s', (_, wrong, problem) => {
    const parts = { timestamp: DEFAULT_EPOCH, workerId: 0, sequence: 0, ...wrong };
    expect(() => defaultLayout().compose(parts)).toThrow(RangeError);
    expect(() => defaultLayout().compose(parts)).toThrow(problem);
  });

  it.each([-1n, 2n ** 63n, 2n ** 64n])('does not decode %s', (id) => {
    expect(() => defaultLayout().decompose(id)).toThrow(
      expect.objectContaining({
        code: 'LEAF_ID_INVALID',
        message: expect.stringContaining(`Invalid snowflake ID ${id}: use a number from 0 to 9223372036854775807`),
      }) as Error,
    );
  });
});

describe('parseLayout', () => {
  it('parses a fingerprint', () => {
    expect(parseLayout(defaultLayout().fingerprint)).toEqual(STANDARD);
    expect(parseLayout('41,11,11@0')).toEqual({ timeBits: 41, workerBits: 11, sequenceBits: 11, epoch: 0 });
  });

  it.each(['', '41,10,12', '41,10,12@', '41,10@5', ' 41,10,12@5', '41,10,12@5 '])('does not parse "%s"', (text) => {
    expect(parseLayout(text)).toBeUndefined();
  });
});
