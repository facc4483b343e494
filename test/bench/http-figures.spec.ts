import type { FixedRateLoad } from '../../bench/http/fixed-rate';
import { describeFixedRates, summarizeFixedRates } from '../../bench/http/fixed-rate-report';
import { type HttpOutcome, httpTargets } from '../../bench/http/http-targets';
import { countIds } from '../../bench/http/request';
import { Latencies } from '../../bench/studies/segment/latencies';

const zero = { median: 0, min: 0, max: 0 };

function load(p99Ms: number, change: Partial<FixedRateLoad> = {}): FixedRateLoad {
  return {
    ...{ name: 'Leaf snowflake', perSecond: 7000, share: 0.7, limit: 20_000, seconds: 5, calmFromMs: 0 },
    ...{ offered: 1000, unsent: 0, ok: 1000, refused: 0, failed: 0, waited: 10 },
    ...{ p50Ms: 0.2, p99Ms, p999Ms: 2 * p99Ms, maxMs: 10 * p99Ms },
    lateness: { p50Ms: 0.01, p99Ms: 0.1, maxMs: 3 },
    ...change,
  };
}

function outcome(...rounds: FixedRateLoad[]): HttpOutcome {
  const fixedRates = summarizeFixedRates(rounds.map((one) => [one]));
  return { routes: [], fixedRates, processes: undefined, startMs: zero, memory: { idleMiB: zero, loadedMiB: zero } };
}

describe('latencies', () => {
  it('have the percentiles that they should, to three digits', () => {
    const latencies = new Latencies();
    for (let ms = 1; ms <= 10_000; ms++) latencies.record(ms / 100);
    const { count, p50, p99, p999, max } = latencies.figures();
    expect(count).toBe(10_000);
    for (const [value, exact] of [
      [p50, 50],
      [p99, 99],
      [p999, 99.9],
      [max, 100],
    ] as const) {
      expect(Math.abs(value / exact - 1)).toBeLessThan(0.001);
    }
  });
});

describe('loads at a fixed rate', () => {
  it('are summed up by their median, and by the worst of their maxima', () => {
    const [report] = summarizeFixedRates([[load(0.5)], [load(0.7)], [load(3)]]);
    expect(report).toMatchObject({ p99Ms: 0.7, p99Spread: '0.50..3.00', p999Ms: 1.4, maxMs: 30, waited: 0.01 });
  });

  it('reach the target by their p99 at the full share of the peak only', () => {
    const [reached] = httpTargets(outcome(load(0.9)));
    expect(reached).toMatchObject({ name: 'Leaf snowflake, p99 at 70 % of the peak', value: 0.9, reached: true });
    expect(httpTargets(outcome(load(1.1)))[0]).toMatchObject({ value: 1.1, reached: false });
    const [less] = httpTargets(outcome(load(0.9, { share: 0.6 })));
    expect(less).toMatchObject({ name: 'Leaf snowflake, p99 at 60 % of the peak', value: null, reached: false });
  });

  it('name a generator that was late itself, or could not reach the rate', () => {
    const late = { lateness: { p50Ms: 0.1, p99Ms: 0.6, maxMs: 9 } };
    expect(httpTargets(outcome(load(0.9, late)))[0]?.name).toMatch(/generator late$/);
    expect(describeFixedRates(outcome(load(0.9, late)).fixedRates)).toMatch(/sent requests late.*: Leaf snowflake\.$/m);
    expect(describeFixedRates(outcome(load(0.9, { share: 0.6 })).fixedRates)).toMatch(
      /cannot generate 70\.0 % of the peak/,
    );
    expect(describeFixedRates(outcome(load(0.9)).fixedRates)).not.toMatch(/cannot generate|sent requests late/);
  });
});

describe('the target of several processes', () => {
  it('is missed where the server has one only', () => {
    const target = httpTargets(outcome(load(1))).find(({ name }) => name.startsWith('two processes'));
    expect(target).toMatchObject({ value: null, reached: false });
  });
});

describe('the IDs of an answer', () => {
  it.each([
    ['1169786042799259000', 1],
    ['{"tag":"order","ids":["1","2","3"]}', 3],
    ['{"key":"order","ids":["1","2","2"]}', 2],
    ['{"tag":"order","ranges":[{"from":"1","to":"1000"},{"from":"9007199254740993","to":"9007199254740993"}]}', 1001],
    ['{"tag":"order","ids":["1","x"]}', undefined],
    ['{"status":503}', undefined],
    ['no', undefined],
  ])('%s are %p', (text, count) => {
    expect(countIds(text)).toBe(count);
  });
});
