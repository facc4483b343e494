import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { atLeast, figure } from '../report/figures';
import type { PartResults } from '../report/results';
import { compare, describeComparison } from './comparison';
import { describeOutcomes, duration, type Outcome, parseSuiteArguments, PARTS, type SuiteArguments } from './suite';

const environment = {} as PartResults['environment'];

function namesOf({ parts }: SuiteArguments): string[] {
  return parts.map(({ name }) => name);
}

describe('the parts', () => {
  it('are all benchmarks there are', () => {
    const files = readdirSync(join(__dirname, '..')).filter((name) => name.endsWith('.bench.ts'));
    const names = files.map((name) => name.replace('.bench.ts', '')).filter((name) => name !== 'all');
    expect(PARTS.map(({ name }) => name).sort()).toEqual(names.sort());
  });
});

describe('the words after npm run bench', () => {
  it('choose the parts, in the order in which they run', () => {
    expect(namesOf(parseSuiteArguments([]))).toEqual(PARTS.slice(0, -2).map(({ name }) => name));
    expect(namesOf(parseSuiteArguments(['--all']))).toEqual(PARTS.map(({ name }) => name));
    expect(namesOf(parseSuiteArguments(['client', 'core', '--quick']))).toEqual(['core', 'client']);
    expect(parseSuiteArguments(['--quick'])).toMatchObject({ quick: true, compare: undefined, rounds: undefined });
    expect(parseSuiteArguments(['core', '--rounds', '1'])).toMatchObject({ compare: undefined, rounds: 1 });
  });

  it('compare with another revision the parts that support it', () => {
    const plain = parseSuiteArguments(['--compare', 'v1.0.0']);
    expect(plain).toMatchObject({ compare: 'v1.0.0', rounds: 3, quick: false });
    expect(namesOf(plain)).toEqual(['core', 'http']);
    expect(parseSuiteArguments(['--compare=HEAD~2', '--rounds', '5', 'client'])).toMatchObject({ rounds: 5 });
    const all = namesOf(parseSuiteArguments(['--compare', 'HEAD', '--all']));
    expect(all).toEqual(expect.arrayContaining(['core', 'client', 'strict']));
  });

  it.each([
    [['cores'], /Unknown part cores\. Parts: core, http/],
    [['--all', 'core'], /Name parts or use --all/],
    [['--compare', 'HEAD', '--rounds', '0'], /whole number of at least 1/],
    [['--rounds', 'x'], /whole number of at least 1/],
    [['--fast'], /--fast/],
  ])('are refused when they are %j', (words, message) => {
    expect(() => parseSuiteArguments(words)).toThrow(message);
  });
});

describe('the summary', () => {
  it('lists the targets of all parts, and the parts that failed', () => {
    const outcomes: Outcome[] = [
      {
        part: 'core',
        seconds: 1,
        ok: true,
        results: { environment, figures: [], targets: [atLeast('rate', 2, 1, 'IDs/s'), atLeast('share', 0, 1, '')] },
      },
      { part: 'http', seconds: 1, ok: false, results: undefined },
    ];
    const text = describeOutcomes(outcomes);
    expect(text).toMatch(/^core: rate +2 +>= 1 +IDs\/s +reached$/m);
    expect(text).toMatch(/^core: share .* MISSED$/m);
    expect(text).toMatch(/^1 of 2 targets reached\.$/m);
    expect(text).toMatch(/^FAILED, see above: http\.$/m);
    expect(describeOutcomes(outcomes.slice(0, 1))).not.toMatch('FAILED');
  });

  it('shows durations in seconds or minutes', () => {
    expect([12.4, 89, 90, 1234].map(duration)).toEqual(['12 s', '89 s', '2 min', '21 min']);
  });
});

describe('a comparison', () => {
  const results = (rate: number | undefined, more: readonly string[] = []): PartResults => ({
    environment,
    targets: [],
    figures: [figure('rate', rate, 'IDs/s'), ...more.map((name) => figure(name, 1, 'ms'))],
  });
  const pairs = [
    { other: results(100), current: results(110, ['new']) },
    { other: results(50), current: results(60, ['new']) },
    { other: results(200), current: results(202, ['new']) },
  ];

  it('takes the ratio within each round, of the figures that both sides have', () => {
    expect(compare('core', pairs)).toEqual([
      {
        ...{ part: 'core', name: 'rate', unit: 'IDs/s' },
        other: { median: 100, min: 50, max: 200 },
        current: { median: 110, min: 60, max: 202 },
        ratio: { median: 1.1, min: 1.01, max: 1.2 },
      },
    ]);
    expect(compare('core', [...pairs, { other: results(undefined), current: results(1) }])).toStrictEqual([]);
  });

  it('tells what was more in every round, and what was less', () => {
    const opposite = pairs.map(({ other, current }) => ({ other: current, current: other }));
    const mixed = [...pairs, { other: results(2), current: results(1) }];
    expect(describeComparison(compare('core', pairs), 'abc')).toMatch(/1\.100 +1\.010\.\.1\.200 +always more$/);
    expect(describeComparison(compare('core', opposite), 'abc')).toMatch(/always less$/);
    expect(describeComparison(compare('core', mixed), 'abc')).not.toMatch('each time');
  });
});
