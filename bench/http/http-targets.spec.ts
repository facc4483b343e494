import { type LoadResult, percentiles } from '../load/record';
import type { Target } from '../report/figures';
import { describeFixedRates, summarizeFixedRates } from './fixed-rate';
import { type HttpOutcome, httpTargets } from './http-targets';
import type { ProcessReport } from './processes';
import { countIds } from './request';
import type { RouteReport } from './route-report';

const zero = { median: 0, min: 0, max: 0 };

function load(p99Ms: number, change: Partial<LoadResult> = {}): LoadResult {
  const latencies = { p50Ms: 0.2, p99Ms, p999Ms: 2 * p99Ms, maxMs: 10 * p99Ms };
  return { ...latencies, ok: 1000, failed: 0, latenessP99Ms: 0.1, ...change };
}

/** One load of Leaf per round; the baseline has a p99 of 1 ms. */
function outcome(...rounds: LoadResult[]): HttpOutcome {
  const at = { name: 'Leaf snowflake', perSecond: 7000, share: 0.7, baseline: load(1) };
  return {
    routes: [],
    processes: [],
    production: true,
    fixedRates: summarizeFixedRates(rounds.map((result) => [{ ...at, result }])),
  };
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

describe('percentiles', () => {
  it('are those of the sorted values', () => {
    const values = Array.from({ length: 10_000 }, (_, index) => (10_000 - index) / 100);
    expect(percentiles(values)).toEqual({ p50Ms: 50, p99Ms: 99, p999Ms: 99.9, maxMs: 100 });
    expect(percentiles([])).toEqual({ p50Ms: NaN, p99Ms: NaN, p999Ms: NaN, maxMs: NaN });
  });
});

describe('loads at a fixed rate', () => {
  it('are summed up by their median, and by the worst of their maxima', () => {
    const [report] = outcome(load(0.5), load(0.7), load(3)).fixedRates;
    const p99Ms = { median: 0.7, min: 0.5, max: 3 };
    expect(report).toMatchObject({ p99Ms, p99Ratio: p99Ms, p999Ms: { median: 1.4 }, maxMs: 30 });
  });

  it('reach the target by their p99 to that of the baseline, if no request failed', () => {
    const name = 'Leaf snowflake, p99 at 70 % of the peak, of node:http';
    expect(httpTargets(outcome(load(1.1)))[0]).toMatchObject({ name, value: 1.1, reached: true });
    expect(httpTargets(outcome(load(1.2)))[0]).toMatchObject({ value: 1.2, reached: false });
    expect(httpTargets(outcome(load(0.9, { failed: 1 })))[0]).toMatchObject({ value: null, reached: false });
  });

  it('name a generator that was late itself', () => {
    const late = outcome(load(0.9, { latenessP99Ms: 0.6 }));
    expect(httpTargets(late)[0]?.name).toMatch(/generator late$/);
    expect(describeFixedRates(late.fixedRates)).toMatch(/sent requests late.*: Leaf snowflake\.$/m);
    expect(describeFixedRates(outcome(load(0.9)).fixedRates)).not.toMatch('sent requests late');
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

  it('are those of two and four, by the CPU time of one', () => {
    const report = (processes: number, cpu: number): ProcessReport => {
      const unknown = { serverCpu: undefined, generatorCpu: undefined };
      const cpuRatio = { median: cpu, min: cpu, max: cpu };
      return { ...{ call: 'one ID', processes, rate: zero, ratio: zero, cpuRatio }, ...unknown };
    };
    const processes = [report(1, 1), report(2, 0.95), report(4, 0.94)];
    const targets = httpTargets({ ...outcome(load(1)), processes });
    expect(named(targets, '2 processes, per CPU s')).toMatchObject([{ value: 0.95, reached: true }]);
    expect(named(targets, '4 processes, per CPU s')).toMatchObject([{ value: 0.94, reached: false }]);
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
