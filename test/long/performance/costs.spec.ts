import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureBuilt } from '../../support/build';
import { ServersUnderTest } from './servers-under-test';

/** Of one measurement, on a machine with other work. */
const LIMIT_MS = 300_000;
/** V8 compiles a path not equally well in every process. What exceeds a bound is measured in so many of them at most. */
const CORE_PROCESSES = { least: 3, most: 9 };
const SERVER_PROCESSES = { least: 5, most: 21 };
/** The versions of V8 differ by more than a regression; the bounds of later ones cover Node.js 22 to 26. */
const IS_NODE_20 = process.versions.node.startsWith('20.');

beforeAll(ensureBuilt);

interface CoreCosts {
  readonly nanoseconds: Readonly<Record<string, number>>;
  readonly bytes: Readonly<Record<string, number>>;
}

/**
 * Ratios within one run, never times: the speed of the machine, and its other work, is on both sides. Each bound is
 * between the ratios that were measured on Node.js 20 on four kinds of processor and a regression of 30 %:
 * `node test/long/performance/burden.mjs` shows that every bound catches one.
 */
describe('an ID of the built core', () => {
  const TIMES = [
    ['a bigint of a segment', 'segment', 'counter', 0.92, 1.05],
    ['a number of a segment', 'number', 'numberCounter', 1.45, 2],
    ['a range of ten', 'range', 'rangeCounter', 1.85, 1.85],
    ['a snowflake ID', 'snowflake', 'clockCounter', 0.98, 1],
    ['a snowflake ID in decimal', 'snowflakeText', 'text', 1.42, 1.55],
    ['an ID of a batch in decimal', 'batchText', 'text', 0.25, 0.26],
  ] as const;
  const runs: CoreCosts[] = [];

  beforeAll(async () => {
    const args = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
    const script = join(__dirname, 'core-costs.mjs');
    const isDear = (): boolean =>
      TIMES.some(([, path, baseline, ...bounds]) => ratioOf(path, baseline) >= boundOf(bounds));
    while (runs.length < CORE_PROCESSES.least || (runs.length < CORE_PROCESSES.most && isDear())) {
      const { stdout } = await promisify(execFile)(process.execPath, [...args, script], { timeout: LIMIT_MS });
      runs.push(JSON.parse(stdout) as CoreCosts);
    }
  }, CORE_PROCESSES.most * LIMIT_MS);

  const best = (kind: keyof CoreCosts, name: string): number => Math.min(...runs.map((run) => run[kind][name] ?? NaN));
  const ratioOf = (path: string, baseline: string): number => best('nanoseconds', path) / best('nanoseconds', baseline);
  const boundOf = ([onNode20, later]: readonly [number, number]): number => (IS_NODE_20 ? onNode20 : later);

  it.each(TIMES)('costs little: %s', (_, path, baseline, ...bounds) => {
    const ratio = ratioOf(path, baseline);
    const bound = boundOf(bounds);
    report(path, ratio, bound);
    expect(ratio).toBeLessThan(bound);
  });

  it.each([
    ['a bigint of a segment', 'segment', 1.1],
    ['a snowflake ID, with that of the clock reading', 'snowflake', 1.5],
  ])('takes no memory but its own: %s', (_, path, bound) => {
    const ratio = best('bytes', path) / best('bytes', 'sum');
    report(`${path}, bytes`, ratio, bound);
    expect(ratio).toBeLessThan(bound);
  });
});

describe('a request to the built server', () => {
  const TARGETS = {
    raw: ['raw', httpGet('/')],
    rawRange: ['raw', httpGet('/range?size=100')],
    rawBatch: ['raw', httpGet('/batch?size=100')],
    segment: ['leaf', httpGet('/api/segment/get/leaf-segment-test')],
    snowflake: ['leaf', httpGet('/api/snowflake/get/order')],
    batch: ['leaf', httpGet('/api/segment/batch/leaf-segment-test?size=100')],
    range: ['leaf', httpGet('/api/segment/range/leaf-segment-test?size=100')],
    rawResp: ['rawResp', 'INCR leaf-segment-test\r\n'],
    resp: ['leafResp', 'INCR leaf-segment-test\r\n'],
  } as const;
  type Target = keyof typeof TARGETS;
  /** Batches and ranges cost up to a third more, beside node:http, on some processors than on others. */
  const COSTS = [
    ['one segment ID', 'segment', 'raw', 0.82],
    ['one snowflake ID', 'snowflake', 'raw', 0.82],
    ['a range of a hundred', 'range', 'rawRange', 0.78],
    ['a batch of a hundred', 'batch', 'rawBatch', 0.4],
    ['INCR of the Redis protocol', 'resp', 'rawResp', 1.48],
  ] as const;
  /** A hundred single IDs cost so many times what a batch of them costs. */
  const LEAST_GAIN = 40;
  const runs: Record<Target, number>[] = [];

  beforeAll(async () => {
    const isDear = (): boolean =>
      COSTS.some(([, path, baseline, bound]) => ratioOf(path, baseline) >= bound) || gainOfBatch() <= LEAST_GAIN;
    while (runs.length < SERVER_PROCESSES.least || (runs.length < SERVER_PROCESSES.most && isDear())) {
      const servers = await ServersUnderTest.start();
      runs.push(await servers.measure(TARGETS));
      await servers.end();
    }
  }, SERVER_PROCESSES.most * LIMIT_MS);

  /** The median: in one process, each of the two paths may be compiled badly. */
  const ratioOf = (path: Target, baseline: Target): number => {
    const ratios = runs.map((run) => run[path] / run[baseline]).sort((a, b) => a - b);
    return ratios[Math.floor(ratios.length / 2)] ?? NaN;
  };

  const gainOfBatch = (): number => 100 * ratioOf('segment', 'batch');

  it.each(COSTS)('costs less than the least response of node:http, or little more: %s', (_, path, baseline, bound) => {
    const ratio = ratioOf(path, baseline);
    report(path, ratio, bound);
    expect(ratio).toBeLessThan(bound);
  });

  it('costs little more for a batch of a hundred than for one', () => {
    const gain = gainOfBatch();
    process.stdout.write(
      `a hundred single IDs: ${gain.toFixed(0)} times the cost of a batch of them, at least ${LEAST_GAIN}\n`,
    );
    expect(gain).toBeGreaterThan(LEAST_GAIN);
  });
});

function httpGet(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: leaf\r\n\r\n`;
}

function report(path: string, ratio: number, bound: number): void {
  process.stdout.write(`${path}: ${ratio.toFixed(3)} of its baseline, limit ${bound}\n`);
}
