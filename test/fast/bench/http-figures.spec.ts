import type { FixedRateLoad } from '../../../bench/http/fixed-rate';
import { describeFixedRates, summarizeFixedRates } from '../../../bench/http/fixed-rate-report';
import { type HttpOutcome, httpTargets } from '../../../bench/http/http-targets';
import type { ProcessReport } from '../../../bench/http/processes';
import { countIds } from '../../../bench/http/request';
import type { RouteReport } from '../../../bench/http/route-report';
import type { Target } from '../../../bench/report/targets';
import { Latencies } from '../../../bench/load/latencies';

const CALM = { p99Ms: 0.4, p999Ms: 1, latenessMaxMs: 0.5 };
const zero = { median: 0, min: 0, max: 0 };

function load(p99Ms: number, change: Partial<FixedRateLoad> = {}): FixedRateLoad {
  return {
    ...{ name: 'Leaf snowflake', at: '70 % of Leaf snowflake', ofPeak: true, perSecond: 7000, share: 0.7, ofWanted: 1 },
    ...{ limit: 20_000, seconds: 3, calmFromMs: 0, startedAtMs: 0, ended: 0 },
    ...{ offered: 1000, unsent: 0, ok: 1000, refused: 0, failed: 0, waited: 10 },
    ...{ p50Ms: 0.2, p99Ms, p999Ms: 2 * p99Ms, maxMs: 10 * p99Ms },
    lateness: { p50Ms: 0.01, p99Ms: 0.1, maxMs: 3 },
    ofSeconds: [CALM, CALM, CALM],
    lostMs: [0, 0, 0],
    ...change,
  };
}

/** The second load of each round is that of Leaf; the baseline has a p99 of 1 ms. */
function outcome(...rounds: FixedRateLoad[]): HttpOutcome {
  const fixedRates = summarizeFixedRates(rounds.map((one) => [{ ...one, name: 'node:http', p99Ms: 1 }, one]));
  const rest = { routes: [], processes: undefined, restart: undefined, production: true };
  return { ...rest, fixedRates, startMs: zero, memory: { idleMiB: zero, loadedMiB: zero } };
}

function route(name: string, ratio: number): RouteReport {
  const rates = { idRate: 1, rate: zero, p50Ms: zero, p99Ms: zero, serverCpu: undefined, cpuRatio: undefined };
  return {
    name,
    path: '/api/snowflake/get/bench',
    loads: [],
    ratio: { median: ratio, min: ratio, max: ratio },
    ...rates,
  };
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
    expect(report).toMatchObject({ p99Ms: 0.7, p99Spread: '0.50..3.00', p999Ms: 1.4, maxMs: 30 });
  });

  it('reach the target by their p99 to that of the baseline at the full rate only', () => {
    const [reached] = httpTargets(outcome(load(1.1)));
    const name = 'Leaf snowflake, p99 at 70 % of the peak, of node:http';
    expect(reached).toMatchObject({ name, value: 1.1, reached: true });
    expect(httpTargets(outcome(load(1.2)))[0]).toMatchObject({ value: 1.2, reached: false });
    const [less] = httpTargets(outcome(load(0.9, { share: 0.6, ofWanted: 0.86 })));
    expect(less).toMatchObject({ name: expect.stringMatching('at 60 % of the peak'), value: null, reached: false });
    expect(httpTargets(outcome(load(0.9, { failed: 1 })))[0]).toMatchObject({ value: null, reached: false });
  });

  it('are judged by their highest percentiles in the calm seconds after the first', () => {
    const at = (ofSeconds: FixedRateLoad['ofSeconds'], lostMs: FixedRateLoad['lostMs']): unknown =>
      httpTargets(outcome(load(9, { at: '20,000/s', ofPeak: false, ofSeconds, lostMs }))).slice(0, 2);
    const slow = { p99Ms: 1.5, p999Ms: 4, latenessMaxMs: 0.5 };
    const name = (percentile: string, calm: number): string =>
      `Leaf snowflake, ${percentile} at 20,000/s, highest of ${calm} calm seconds of 2`;
    expect(at([slow, CALM, CALM], [0, 0, undefined])).toMatchObject([
      { name: name('p99', 2), value: 0.4, reached: true },
      { name: name('p99.9', 2), value: 1, reached: true },
    ]);
    expect(at([CALM, CALM, slow], [0, 0, 0])).toMatchObject([
      { name: name('p99', 2), value: 1.5, reached: false },
      { name: name('p99.9', 2), value: 4, reached: false },
    ]);
    expect(at([CALM, CALM, slow], [0, 0, 2.1])).toMatchObject([{ name: name('p99', 1), value: 0.4 }, { value: 1 }]);
    expect(at([CALM, CALM, { ...slow, latenessMaxMs: 2.1 }], [0, 3, 0])).toMatchObject([
      { name: name('p99', 0), value: null, reached: false },
      { name: name('p99.9', 0), value: null, reached: false },
    ]);
  });

  it('name a generator that was late itself, or could not reach the rate', () => {
    const late = { lateness: { p50Ms: 0.1, p99Ms: 0.6, maxMs: 9 } };
    expect(httpTargets(outcome(load(0.9, late)))[0]?.name).toMatch(/generator late$/);
    expect(describeFixedRates(outcome(load(0.9, late)).fixedRates)).toMatch(
      /sent requests late.*Leaf snowflake at 70 % of Leaf snowflake\.$/m,
    );
    expect(describeFixedRates(outcome(load(0.9, { ofWanted: 0.86 })).fixedRates)).toMatch(
      /had a lower rate: .*Leaf snowflake at 70 % of Leaf snowflake\./,
    );
    expect(describeFixedRates(outcome(load(0.9)).fixedRates)).not.toMatch(/had a lower rate|sent requests late/);
  });
});

describe('the rate of single IDs', () => {
  it.each([
    [1, true, { value: 1, reached: true }],
    [0.99, true, { value: 0.99, reached: false }],
    [1.2, false, { value: null, reached: false }],
  ])('of %p of node:http, in the set-up of the target: %p', (ratio, production, target) => {
    const routes = [route('node:http', 1), route('Leaf snowflake', ratio)];
    const [first] = httpTargets({ ...outcome(load(1)), routes, production });
    expect(first).toMatchObject({ name: 'Leaf snowflake, of node:http', ...target });
  });
});

describe('the targets of several processes', () => {
  const named = (targets: readonly Target[], start: string): Target[] =>
    targets.filter(({ name }) => name.startsWith(start));

  it('are missed where the server has one only', () => {
    const targets = httpTargets(outcome(load(1)));
    expect(named(targets, 'two processes')).toMatchObject([{ value: null, reached: false }]);
    expect(named(targets, 'one of 4')).toMatchObject(Array(3).fill({ value: null, reached: false }));
  });

  it('are those of two and four, by the CPU time of one', () => {
    const report = (processes: number, cpu: number): ProcessReport => {
      const cpuRatio = { median: cpu, min: cpu, max: cpu };
      return { call: 'one ID', processes, loads: [], rate: zero, ratio: zero, cpuRatio };
    };
    const processes = [report(1, 1), report(2, 0.95), report(4, 0.94)];
    const targets = httpTargets({ ...outcome(load(1)), processes });
    expect(named(targets, '2 processes, per CPU s')).toMatchObject([{ value: 0.95, reached: true }]);
    expect(named(targets, '4 processes, per CPU s')).toMatchObject([{ value: 0.94, reached: false }]);
  });

  it('are the share of the killed one, in connections and in requests', () => {
    const restart = { connections: 64, ended: 16, requests: 1000, failed: 16, refused: 0, opened: 64, taken: 15 };
    const reached = (change: object): boolean[] =>
      named(httpTargets({ ...outcome(load(1)), restart: { ...restart, ...change } }), 'one of 4').map(
        (target) => target.reached,
      );
    expect(reached({})).toEqual([true, true, true]);
    expect(reached({ ended: 17, failed: 17, taken: 14 })).toEqual([false, false, false]);
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
