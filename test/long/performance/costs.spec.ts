import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureBuilt } from '../../support/build';
import { ServersUnderTest } from './servers-under-test';

/** Of one measurement, on a machine with other work. */
const LIMIT_MS = 300_000;
/** V8 compiles a path not equally well in every process. */
const PROCESSES = 3;
/** The versions of V8 differ by more than a regression; the bounds of later ones cover Node.js 22 to 26. */
const IS_NODE_20 = process.versions.node.startsWith('20.');

beforeAll(ensureBuilt);

interface CoreCosts {
  readonly nanoseconds: Readonly<Record<string, number>>;
  readonly bytes: Readonly<Record<string, number>>;
}

/**
 * Ratios within one run, never times: the speed of the machine, and its other work, is on both sides. Each bound is
 * between the ratios that were measured on Node.js 20 on two kinds of processor and a regression of 30 %:
 * `node test/long/performance/burden.mjs` shows that every bound catches one.
 */
describe('an ID of the built core', () => {
  let runs: CoreCosts[];

  beforeAll(async () => {
    runs = [];
    const args = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
    const script = join(__dirname, 'core-costs.mjs');
    for (let run = 0; run < PROCESSES; run++) {
      const { stdout } = await promisify(execFile)(process.execPath, [...args, script], { timeout: LIMIT_MS });
      runs.push(JSON.parse(stdout) as CoreCosts);
    }
  }, PROCESSES * LIMIT_MS);

  const best = (kind: keyof CoreCosts, name: string): number => Math.min(...runs.map((run) => run[kind][name] ?? NaN));

  it.each([
    ['a bigint of a segment', 'segment', 'counter', 0.88, 1.05],
    ['a number of a segment', 'number', 'numberCounter', 1.08, 1.42],
    ['a range of ten', 'range', 'counter', 3.3, 3.4],
    ['a snowflake ID', 'snowflake', 'clockCounter', 0.95, 1],
    ['a snowflake ID in decimal', 'snowflakeText', 'text', 1.33, 1.55],
    ['an ID of a batch in decimal', 'batchText', 'text', 0.41, 0.41],
  ])('costs little: %s', (_, path, baseline, onNode20, later) => {
    const bound = IS_NODE_20 ? onNode20 : later;
    const ratio = best('nanoseconds', path) / best('nanoseconds', baseline);
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
  type Costs = Record<keyof typeof TARGETS, number>;
  let costs: Costs;

  beforeAll(async () => {
    const runs: Costs[] = [];
    for (let run = 0; run < PROCESSES; run++) {
      const servers = await ServersUnderTest.start();
      runs.push(await servers.measure(TARGETS));
      await servers.end();
    }
    const best = Object.keys(TARGETS).map((name) => [name, Math.min(...runs.map((run) => run[name as keyof Costs]))]);
    costs = Object.fromEntries(best) as Costs;
  }, PROCESSES * LIMIT_MS);

  it.each([
    ['one segment ID', 'segment', 'raw', 1.08],
    ['one snowflake ID', 'snowflake', 'raw', 1.08],
    ['a range of a hundred', 'range', 'rawRange', 1.32],
    ['a batch of a hundred', 'batch', 'rawBatch', 0.74],
    ['INCR of the Redis protocol', 'resp', 'rawResp', 1.38],
  ] as const)('costs little more than the least response: %s', (_, path, baseline, bound) => {
    const ratio = costs[path] / costs[baseline];
    report(path, ratio, bound);
    expect(ratio).toBeLessThan(bound);
  });

  it('costs little more for a batch of a hundred than for one', () => {
    expect((100 * costs.segment) / costs.batch).toBeGreaterThan(40);
  });
});

function httpGet(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: leaf\r\n\r\n`;
}

function report(path: string, ratio: number, bound: number): void {
  process.stdout.write(`${path}: ${ratio.toFixed(3)} of its baseline, limit ${bound}\n`);
}
