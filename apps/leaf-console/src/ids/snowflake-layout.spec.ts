import { bitFields, decode, idsBetween, type Layout, parseId, placeOf, DEFAULT_LAYOUT } from './snowflake-layout';

const ID = 1169786042799259000n;
const SMALL: Layout = { epoch: 1_700_000_000_000, timeBits: 40, workerBits: 3, sequenceBits: 5 };

describe('parseId', () => {
  it('reads every digit', () => {
    expect(parseId('9007199254740993')).toBe(9007199254740993n);
    expect(parseId('9223372036854775807')).toBe(9223372036854775807n);
    expect(parseId(' 1_169 786,042799259000\n')).toBe(ID);
  });

  it('names the error', () => {
    expect(parseId(' ')).toBe('empty');
    for (const text of ['-1', '1.5', '0x10', '1e3', '１２'])
      expect([text, parseId(text)]).toEqual([text, 'notDecimal']);
    expect(parseId('9223372036854775808')).toBe('tooLarge');
  });
});

describe('decode', () => {
  it('decodes an ID', () => {
    expect(decode(ID, DEFAULT_LAYOUT)).toEqual({ id: ID, timestamp: 1567733700834, workerId: 39, sequence: 3448 });
  });

  it('supports other layouts, and rejects IDs beyond them', () => {
    expect(decode((5n << 8n) | (6n << 5n) | 7n, SMALL)).toMatchObject({
      timestamp: SMALL.epoch + 5,
      workerId: 6,
      sequence: 7,
    });
    expect(decode((1n << 48n) - 1n, SMALL)?.timestamp).toBe(SMALL.epoch + 2 ** 40 - 1);
    expect(decode(1n << 48n, SMALL)).toBeUndefined();
  });

  it('returns all 64 bits', () => {
    const fields = bitFields(ID, DEFAULT_LAYOUT);
    expect(fields.map(({ name, bits }) => [name, bits.length])).toEqual([
      ['sign', 1],
      ['time', 41],
      ['worker', 10],
      ['sequence', 12],
    ]);
    expect(BigInt(`0b${fields.map(({ bits }) => bits).join('')}`)).toBe(ID);
    expect(bitFields(255n, SMALL).map(({ bits }) => bits.length)).toEqual([16, 40, 3, 5]);
  });
});

describe('a layout with data center bits', () => {
  const layout = { ...DEFAULT_LAYOUT, datacenterBits: 5 };

  it('divides the worker ID, and only that', () => {
    expect(decode(ID, layout)).toEqual(decode(ID, DEFAULT_LAYOUT));
    expect(placeOf(39, layout)).toEqual({ datacenter: 1, machine: 7 });
    expect(placeOf(39, DEFAULT_LAYOUT)).toBeUndefined();
    expect(bitFields(ID, layout).slice(2)).toEqual([
      { name: 'datacenter', bits: '00001' },
      { name: 'machine', bits: '00111' },
      { name: 'sequence', bits: '110101111000' },
    ]);
  });
});

describe('idsBetween', () => {
  it('contains exactly the IDs of the time', () => {
    const range = idsBetween(1567733700834, 1567733700834, DEFAULT_LAYOUT);
    expect(range).toEqual({ lowest: 1169786042799095808n, highest: 1169786042803290111n });
    for (const [id, timestamp] of [
      [range!.lowest - 1n, 1567733700833],
      [range!.lowest, 1567733700834],
      [range!.highest, 1567733700834],
      [range!.highest + 1n, 1567733700835],
    ] as const) {
      expect(decode(id, DEFAULT_LAYOUT)?.timestamp).toBe(timestamp);
    }
  });

  it('ends where the layout ends', () => {
    const last = SMALL.epoch + 2 ** 40 - 1;
    expect(idsBetween(0, SMALL.epoch - 1, SMALL)).toBeUndefined();
    expect(idsBetween(last + 1, last + 2, SMALL)).toBeUndefined();
    expect(idsBetween(0, last + 9, SMALL)).toEqual({ lowest: 0n, highest: (1n << 48n) - 1n });
  });
});
