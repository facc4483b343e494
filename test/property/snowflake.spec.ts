import { BitLayout, defaultLayout, type SnowflakeParts } from '@leaf/core';
import fc from 'fast-check';
import type { Fault } from '../support/in-memory-worker-registry';
import { SLOTS, SnowflakeWorld, type Asking, type WorldEvent, type WorldOptions } from '../support/snowflake-world';

const START = 1_700_000_000_000;

const slot = fc.nat(SLOTS - 1);
const smallMs = fc.integer({ min: -12, max: 20 });
const bigMs = fc.integer({ min: -500, max: 500 });

const event: fc.Arbitrary<WorldEvent> = fc.oneof(
  { weight: 8, arbitrary: ask() },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('step'), ms: smallMs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('step'), ms: bigMs }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance'), ms: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance'), ms: fc.nat(500) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('report'), slot }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('start'), slot }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('stop', 'crash'), slot }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fail'),
      slot,
      fault: fc.constantFrom<Fault>('before', 'after', 'late'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'deliver' }) },
);

function ask(): fc.Arbitrary<WorldEvent> {
  const how = fc.constantFrom<Asking>('tryNext', 'tryNextString', 'tryRange', 'next', 'nextString');
  return fc.record({ kind: fc.constant('ask'), slot, how, count: fc.integer({ min: 1, max: 12 }) });
}

const take: fc.Arbitrary<WorldEvent> = fc.record({
  kind: fc.constant('take'),
  slot,
  how: fc.constantFrom('take', 'takeStrings'),
  count: fc.integer({ min: 1, max: 40 }),
  meanwhile: fc.array(event, { maxLength: 6 }),
});

const starts: WorldEvent[] = [
  { kind: 'start', slot: 0 },
  { kind: 'start', slot: 2 },
];
const walk = fc
  .array(fc.oneof({ weight: 5, arbitrary: event }, { weight: 1, arbitrary: take }), { minLength: 10, maxLength: 60 })
  .map((events) => [...starts, ...events]);

function options(layout: fc.Arbitrary<BitLayout>): fc.Arbitrary<WorldOptions> {
  return fc.record({
    layout,
    horizonMs: fc.constantFrom(20, 200),
    maxBackwardsMs: fc.constantFrom(0, 5, 20),
    waitMs: fc.constantFrom(0, 5, 30),
    seed: fc.nat(),
  });
}

/** Few sequences, so that a millisecond is used up soon. */
const endless = fc
  .constantFrom(1, 2, 4)
  .map((sequenceBits) => new BitLayout({ timeBits: 41, workerBits: 3, sequenceBits, epoch: START - 100_000 }));

/** Ends while the walk goes on. */
const ending = fc
  .integer({ min: 0, max: 300 })
  .map((ms) => new BitLayout({ timeBits: 31, workerBits: 3, sequenceBits: 2, epoch: START + ms - (2 ** 31 - 1) }));

describe('Snowflake IDs on any walk of the clock', () => {
  it('are unique, ascend and stay in the recorded window, or are refused', async () => {
    let issued = 0;
    await fc.assert(
      fc.asyncProperty(options(endless), walk, async (each, events) => {
        const world = new SnowflakeWorld(START, each);
        await world.run(events);
        await world.recover();
        issued += world.issued.size;
      }),
      { numRuns: 400 },
    );
    // Refusing everything would keep every other promise.
    expect(issued).toBeGreaterThan(1000);
  });

  it('do not wrap at the end of the epoch', async () => {
    await fc.assert(
      fc.asyncProperty(options(ending), walk, (each, events) => new SnowflakeWorld(START, each).run(events)),
      { numRuns: 100 },
    );
  });
});

describe('Any bit layout', () => {
  const layout: fc.Arbitrary<BitLayout> = fc
    .record({ timeBits: bits(31, 52), workerBits: bits(1, 22), sequenceBits: bits(1, 22) })
    .filter(({ timeBits, workerBits, sequenceBits }) => timeBits + workerBits + sequenceBits <= 63)
    .chain((fields) => upTo(2 ** 53 - 2 ** fields.timeBits).map((epoch) => new BitLayout({ ...fields, epoch })));

  function bits(min: number, max: number): fc.Arbitrary<number> {
    return fc.integer({ min, max });
  }

  function upTo(max: number): fc.Arbitrary<number> {
    return fc.bigInt({ min: 0n, max: BigInt(max) }).map(Number);
  }

  function partsOf({ epoch, maxTimestamp, maxWorkerId, maxSequence }: BitLayout): fc.Arbitrary<SnowflakeParts> {
    return fc.record({
      timestamp: upTo(maxTimestamp - epoch).map((ms) => epoch + ms),
      workerId: upTo(maxWorkerId),
      sequence: upTo(maxSequence),
    });
  }

  it('decodes what it composes', () => {
    const composed = layout.chain((each) => fc.tuple(fc.constant(each), partsOf(each)));
    fc.assert(
      fc.property(composed, ([each, parts]) => {
        const id = each.compose(parts);
        expect(id >= 0n && id <= each.maxId).toBe(true);
        expect(each.decompose(id)).toEqual(parts);
      }),
      { numRuns: 1000 },
    );
  });

  it('composes what it decodes', () => {
    const decoded = layout.chain((each) => fc.tuple(fc.constant(each), fc.bigInt({ min: 0n, max: each.maxId })));
    fc.assert(
      fc.property(decoded, ([each, id]) => {
        expect(each.compose(each.decompose(id))).toBe(id);
      }),
      { numRuns: 1000 },
    );
  });

  it('composes what it decodes over the whole 63 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (id) => {
        expect(defaultLayout().compose(defaultLayout().decompose(id))).toBe(id);
      }),
      { numRuns: 1000 },
    );
  });

  it('orders IDs by time, then worker ID, then sequence', () => {
    const pairs = layout.chain((each) => fc.tuple(fc.constant(each), partsOf(each), partsOf(each)));
    fc.assert(
      fc.property(pairs, ([each, a, b]) => {
        const order = a.timestamp - b.timestamp || a.workerId - b.workerId || a.sequence - b.sequence;
        const difference = each.compose(a) - each.compose(b);
        expect(difference < 0n ? -1 : difference > 0n ? 1 : 0).toBe(Math.sign(order));
      }),
      { numRuns: 1000 },
    );
  });
});
