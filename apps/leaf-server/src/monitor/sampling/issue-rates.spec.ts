import { FakeClock } from '@leaf-ids/core/testing';
import type { Leaf } from '@leaf-ids/id';
import { Exhaustion, IssueRates } from './issue-rates';

const STEP_MS = 5000;
const MINUTE = 12;

describe('IssueRates', () => {
  let clock: FakeClock;
  let rates: IssueRates;
  let issued: Map<string, number>;

  beforeEach(() => {
    clock = new FakeClock();
    rates = new IssueRates(clock);
    issued = new Map();
  });

  const sample = (): Promise<void> =>
    rates.sample((visit) => {
      for (const [tag, count] of issued) visit(tag, count);
      return Promise.resolve();
    });

  /** Samples `steps` times; `tag` issues `perStep` IDs before each sample. */
  async function run(steps: number, tag: string, perStep: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      await clock.advance(STEP_MS);
      issued.set(tag, (issued.get(tag) ?? 0) + perStep);
      await sample();
    }
  }

  it('is 0 before the second sample', async () => {
    issued.set('order', 5);
    expect(rates.rateOf('order')).toBe(0);
    await sample();
    expect(rates.rateOf('order')).toBe(0);
  });

  it('is the mean since the first sample, and of the last minute after that', async () => {
    issued.set('order', 0);
    await sample();
    await run(2, 'order', 50);
    expect(rates.rateOf('order')).toBe(10);
    await run(MINUTE - 2, 'order', 500);
    expect(rates.rateOf('order')).toBeCloseTo((2 * 50 + 10 * 500) / 60);
    await run(2, 'order', 500);
    expect(rates.rateOf('order')).toBe(100);
  });

  it('falls to exactly 0 when nothing was issued for a minute', async () => {
    issued.set('order', 0);
    await sample();
    await run(3, 'order', 1_000_003);
    await run(MINUTE - 1, 'order', 0);
    expect(rates.rateOf('order')).toBeGreaterThan(0);
    await run(1, 'order', 0);
    expect(rates.rateOf('order')).toBe(0);
  });

  it('spreads the first IDs of a new tag over the whole minute', async () => {
    await sample();
    await run(MINUTE, 'old', 5);
    issued.set('new', 60);
    await run(1, 'old', 5);
    expect(rates.rateOf('new')).toBe(1);
    expect(rates.rateOf('old')).toBe(1);
  });

  it('forgets a removed tag, and starts over when it is recreated', async () => {
    issued.set('order', 0);
    await sample();
    await run(2, 'order', 500);
    issued.delete('order');
    await run(1, 'other', 0);
    expect(rates.rateOf('order')).toBe(0);

    await run(2, 'order', 300);
    issued.set('order', 30);
    await run(1, 'other', 0);
    expect(rates.rateOf('order')).toBeCloseTo(1);
  });

  it('visits the tags once per sample, and a second time after tags were removed', async () => {
    let surveys = 0;
    const count = async (): Promise<number> => {
      surveys = 0;
      await rates.sample((visit) => {
        surveys++;
        for (const [tag, ids] of issued) visit(tag, ids);
        return Promise.resolve();
      });
      return surveys;
    };
    issued.set('order', 5).set('removed', 7);
    expect(await count()).toBe(1);
    issued.set('order', 6);
    expect(await count()).toBe(1);
    issued.delete('removed');
    expect(await count()).toBe(2);
    expect(await count()).toBe(1);
  });

  it('uses the previous samples while one is in progress', async () => {
    issued.set('order', 0).set('resting', 5);
    await sample();
    await run(MINUTE + 2, 'order', 50);
    await clock.advance(STEP_MS);
    const during: number[] = [];
    await rates.sample((visit) => {
      for (const tag of issued.keys()) visit(tag, 1_000_000);
      during.push(rates.rateOf('order'), rates.rateOf('resting'));
      return Promise.resolve();
    });
    expect(during).toEqual([10, 0]);
    expect(rates.rateOf('resting')).toBeCloseTo((1_000_000 - 5) / 60);
  });

  it('uses the measured time, not the nominal interval', async () => {
    issued.set('order', 0);
    await sample();
    await clock.advance(20_000);
    issued.set('order', 200);
    await sample();
    expect(rates.rateOf('order')).toBe(10);
  });

  it('finds the busiest tags, without idle ones', async () => {
    for (let tag = 0; tag < 50; tag++) issued.set(`tag-${tag}`, 1);
    await sample();
    await clock.advance(STEP_MS);
    for (let tag = 0; tag < 40; tag++) issued.set(`tag-${tag}`, 1 + 10 * ((tag * 7) % 40));
    await sample();
    const found = await rates.busiest(3);
    expect(found.map(({ rate }) => rate)).toEqual([78, 76, 74]);
    expect(found.every(({ tag, rate }) => rate === rates.rateOf(tag))).toBe(true);
    expect(await rates.busiest(100)).toHaveLength(39);
  });
});

describe('Exhaustion', () => {
  const clock = new FakeClock();
  const rates = new IssueRates(clock);
  const segments = { generator: { isStrict: (tag: string) => tag === 'strict' } };
  const leaf = { segments } as unknown as Leaf;
  const exhaustion = new Exhaustion(rates, leaf);

  const sample = (buffered: Readonly<Record<string, number>>): Promise<void> =>
    exhaustion.sample((see) => {
      for (const [tag, count] of Object.entries(buffered)) see(tag, count);
      return Promise.resolve();
    });

  it('knows nothing while every tag is idle', async () => {
    await sample({ order: 5, tag1500: 0 });
    expect([exhaustion.leastSeconds, exhaustion.shortTags]).toEqual([undefined, 0]);
  });

  it('is that of the tag that ends first, however many tags there are', async () => {
    for (let second = 0; second <= 10; second += 5) {
      await rates.sample((see) => {
        for (let i = 0; i < 2000; i++) see(`tag${i}`, 1 + second * 10);
        see('strict', 1 + second * 10);
        return Promise.resolve();
      });
      await clock.advance(5000);
    }
    const full = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`tag${i}`, 6000]));
    await sample({ ...full, tag1500: 100, tag1501: 5990, idle: 0, strict: 0 });
    expect([exhaustion.leastSeconds, exhaustion.shortTags]).toEqual([10, 2]);
    await sample(full);
    expect([exhaustion.leastSeconds, exhaustion.shortTags]).toEqual([600, 0]);
  });
});
