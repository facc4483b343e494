import { setImmediate } from 'node:timers/promises';
import { BitLayout, idsOf, LeafError, type SnowflakeParts } from '@leaf-ids/core';
import { defaultLayout, type IssueWindow, SnowflakeGenerator, type Term } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import fc from 'fast-check';
import { runs } from '../../support/runs';

const START = 1_700_000_000_000;
/** A smaller epoch looks like seconds. */
const FIRST_EPOCH = 32_503_680_000;
/** Of a range that is asked for without waiting. */
const RANGE_SIZE = 3;

interface WalkOptions {
  readonly layout: BitLayout;
  readonly leaseTtlMs: number;
  readonly maxBackwardsMs: number;
  readonly waitMs: number;
  readonly sequenceStart: number;
}

/** What can happen to a generator; a term ends, and another worker ID is acquired. */
type Event =
  | { readonly kind: 'step' | 'advance'; readonly ms: number }
  | { readonly kind: 'report' | 'cut off' | 'end' | 'acquire' }
  | { readonly kind: 'ask'; readonly how: (typeof ASKING)[number]; readonly count: number }
  | {
      readonly kind: 'take';
      readonly how: 'take' | 'takeStrings';
      readonly count: number;
      /** Happen one after the other, a millisecond apart, while the call waits. */
      readonly meanwhile: readonly Event[];
    };

const ASKING = ['tryNext', 'tryNextString', 'tryRange', 'next', 'nextString'] as const;

/** A generator in a window that keeps the rules of a lease. It throws at the first ID that breaks a promise. */
class Walk implements IssueWindow {
  readonly clock = new FakeClock(START);
  readonly issued = new Set<bigint>();
  readonly refusal = new LeafError('LEAF_NOT_READY', 'No worker ID.');
  term: Term | undefined;
  ceiling = -1;
  renewAfter = -1;
  private readonly ids: SnowflakeGenerator;
  private readonly terms: Term[] = [];
  private newest = -1n;
  private cutOff = false;

  constructor(private readonly options: WalkOptions) {
    this.ids = new SnowflakeGenerator(options.layout, this, this.clock, (bound) => this.issued.size % bound, options);
    this.acquire();
  }

  async renew(): Promise<void> {
    const { clock, ids, cutOff } = this;
    const ceiling = Math.max(ids.lastTimestamp, clock.now() + this.options.leaseTtlMs);
    if (ceiling < this.ceiling) this.ceiling = ceiling;
    await Promise.resolve();
    if (!cutOff) this.record(ceiling);
  }

  async run(events: readonly Event[]): Promise<void> {
    for (const event of events) await this.apply(event);
  }

  /** With the registry back and the clock past everything, it must issue again. */
  async recover(): Promise<void> {
    this.cutOff = false;
    if (this.term === undefined) this.acquire();
    this.clock.step(Math.max(0, this.ids.lastTimestamp + 1 - this.clock.now()));
    this.clock.step(Math.max(0, (this.term?.floor ?? 0) + 1 - this.clock.now()));
    await this.renew();
    this.check([this.ids.next()], this.newest);
  }

  private acquire(): void {
    const { options, clock, ids, terms } = this;
    const workerId = terms.length % (options.layout.maxWorkerId + 1);
    // Above all that was issued as this worker before.
    const floor = Math.max(ids.lastTimestamp, clock.now());
    this.record(floor + options.leaseTtlMs);
    this.term = { workerId, floor };
    terms.push(this.term);
  }

  private record(ceiling: number): void {
    this.ceiling = ceiling;
    this.renewAfter = ceiling - this.options.leaseTtlMs / 2;
  }

  private async apply(event: Event): Promise<void> {
    if (event.kind === 'step') this.clock.step(event.ms);
    else if (event.kind === 'advance') await this.clock.advance(event.ms);
    else if (event.kind === 'take') await this.take(event);
    else if (event.kind === 'ask') for (let n = 0; n < event.count; n++) await this.ask(event.how);
    else if (event.kind === 'report') await this.renew();
    else if (event.kind === 'cut off') this.cutOff = !this.cutOff;
    else if (event.kind === 'end') this.term = undefined;
    else this.acquire();
  }

  private ask(how: (typeof ASKING)[number]): Promise<void> {
    return refusable(() => {
      const given = this.ids[how](RANGE_SIZE);
      if (typeof given === 'object') this.check(idsOf([given]), this.newest);
      else if (given !== undefined) this.check([given], this.newest);
      return Promise.resolve();
    });
  }

  private async take({ how, count, meanwhile }: Extract<Event, { kind: 'take' }>): Promise<void> {
    const { newest, clock, options } = this;
    const state = { settled: false };
    const answer = refusable(async () => {
      const ids = await this.ids[how](count);
      if (ids.length !== count) throw new Error(`${ids.length} IDs instead of ${count}`);
      this.check(ids, newest);
    }).finally(() => (state.settled = true));
    // Handled below, but not before the clock has moved.
    answer.catch(() => undefined);
    await setImmediate();
    // The longest wait: the limit, and a clock step absorbed at its very end.
    const limit = clock.monotonic() + options.waitMs + 2 * options.maxBackwardsMs + 1;
    const events = meanwhile.values();
    while (!state.settled) {
      if (clock.monotonic() > limit) throw new Error(`${how}(${count}) waits for ever`);
      const event = events.next();
      if (event.done !== true) await this.apply(event.value);
      await clock.advance(1);
    }
    await answer;
  }

  private check(ids: readonly (bigint | string)[], after: bigint): void {
    let before = after;
    for (const id of ids.map(BigInt)) {
      const { timestamp, workerId } = this.options.layout.decompose(id);
      const fault = (what: string): Error => new Error(`${id} at ${timestamp} of worker ${workerId}: ${what}`);
      if (this.issued.has(id)) throw fault('issued before');
      if (id <= before) throw fault(`not above ${before}`);
      if (timestamp > this.ceiling) throw fault(`above the ceiling ${this.ceiling}`);
      const known = this.terms.some((term) => term.workerId === workerId && term.floor < timestamp);
      if (!known) throw fault('not above the floor');
      this.issued.add(id);
      before = id;
    }
    if (before > this.newest) this.newest = before;
  }
}

/** A refusal is an answer too; every other error is not. */
async function refusable(action: () => Promise<void>): Promise<void> {
  const codes = [
    'LEAF_NOT_READY',
    'LEAF_OVERLOADED',
    'LEAF_CLOCK_BACKWARDS',
    'LEAF_LEASE_EXPIRED',
    'LEAF_EPOCH_EXHAUSTED',
  ];
  try {
    await action();
  } catch (error) {
    if (!(error instanceof LeafError) || !codes.includes(error.code)) throw error;
  }
}

function step(kind: 'step' | 'advance', min: number, max: number): fc.Arbitrary<Event> {
  return fc.record({ kind: fc.constant(kind), ms: fc.integer({ min, max }) });
}

const ask: fc.Arbitrary<Event> = fc.record({
  kind: fc.constant('ask'),
  how: fc.constantFrom(...ASKING),
  count: fc.integer({ min: 1, max: 12 }),
});

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: ask },
  { weight: 3, arbitrary: step('step', -12, 20) },
  { weight: 1, arbitrary: step('step', -500, 500) },
  { weight: 3, arbitrary: step('advance', 0, 15) },
  { weight: 1, arbitrary: step('advance', 0, 500) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('report') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('cut off', 'end') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('acquire') }) },
);

const take: fc.Arbitrary<Event> = fc.record({
  kind: fc.constant('take'),
  how: fc.constantFrom('take', 'takeStrings'),
  count: fc.integer({ min: 1, max: 40 }),
  meanwhile: fc.array(event, { maxLength: 6 }),
});

const walk = fc.array(fc.oneof({ weight: 5, arbitrary: event }, { weight: 1, arbitrary: take }), {
  minLength: 10,
  maxLength: 60,
});

function options(layout: fc.Arbitrary<BitLayout>): fc.Arbitrary<WalkOptions> {
  return fc.record({
    layout,
    leaseTtlMs: fc.constantFrom(20, 200),
    maxBackwardsMs: fc.constantFrom(0, 5, 20),
    waitMs: fc.constantFrom(0, 5, 30),
    sequenceStart: fc.constantFrom(0, 1, 3, 1024),
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
  it('are unique, ascend and stay in their window, or are refused', async () => {
    let issued = 0;
    await fc.assert(
      fc.asyncProperty(options(endless), walk, async (each, events) => {
        const world = new Walk(each);
        await world.run(events);
        await world.recover();
        issued += world.issued.size;
      }),
      { numRuns: runs(400) },
    );
    // A generator that refused every call would pass the checks above.
    expect(issued).toBeGreaterThan(1000);
  });

  it('do not wrap at the end of the epoch', async () => {
    await fc.assert(
      fc.asyncProperty(options(ending), walk, (each, events) => new Walk(each).run(events)),
      { numRuns: runs(100) },
    );
  });
});

describe('Any bit layout', () => {
  const layout: fc.Arbitrary<BitLayout> = fc
    .record({ timeBits: bits(31, 52), workerBits: bits(1, 22), sequenceBits: bits(1, 22) })
    .filter(({ timeBits, workerBits, sequenceBits }) => timeBits + workerBits + sequenceBits <= 63)
    .chain((fields) =>
      upTo(2 ** 53 - 2 ** fields.timeBits).map(
        (epoch) => new BitLayout({ ...fields, epoch: epoch < FIRST_EPOCH ? 0 : epoch }),
      ),
    );

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
      { numRuns: runs(1000) },
    );
  });

  it('composes what it decodes', () => {
    const decoded = layout.chain((each) => fc.tuple(fc.constant(each), fc.bigInt({ min: 0n, max: each.maxId })));
    fc.assert(
      fc.property(decoded, ([each, id]) => {
        expect(each.compose(each.decompose(id))).toBe(id);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('composes what it decodes over the whole 63 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (id) => {
        expect(defaultLayout().compose(defaultLayout().decompose(id))).toBe(id);
      }),
      { numRuns: runs(1000) },
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
      { numRuns: runs(1000) },
    );
  });
});
