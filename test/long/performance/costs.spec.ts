import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureBuilt } from '../../support/build';
import { ServersUnderTest } from './servers-under-test';

const LIMIT_MS = 120_000;

beforeAll(ensureBuilt);

interface CoreCosts {
  readonly nanoseconds: Readonly<
    Record<'counter' | 'segment' | 'snowflake' | 'text' | 'snowflakeText' | 'batchText', number>
  >;
  readonly bytes: Readonly<Record<'sum' | 'segment' | 'snowflake', number>>;
}

/** Ratios within one run, never times: how fast the machine is, and what else it does, is on both sides. */
describe('an ID of the built core', () => {
  let costs: CoreCosts;

  beforeAll(async () => {
    const args = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
    const script = join(__dirname, 'core-costs.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [...args, script], { timeout: LIMIT_MS });
    costs = JSON.parse(stdout) as CoreCosts;
  });

  it('of a segment costs hardly more than counting', () => {
    expect(costs.nanoseconds.segment / costs.nanoseconds.counter).toBeLessThan(2);
  });

  it('of snowflake costs hardly more than a look at the clock and counting', () => {
    expect(costs.nanoseconds.snowflake / costs.nanoseconds.counter).toBeLessThan(5.5);
  });

  it('of snowflake in decimal costs hardly more than a bigint in decimal', () => {
    expect(costs.nanoseconds.snowflakeText / costs.nanoseconds.text).toBeLessThan(2);
  });

  it('of a batch in decimal costs less than half of a bigint in decimal', () => {
    expect(costs.nanoseconds.batchText / costs.nanoseconds.text).toBeLessThan(0.6);
  });

  it('takes no memory but its own, and snowflake that of the clock reading', () => {
    expect(costs.bytes.segment / costs.bytes.sum).toBeLessThan(1.1);
    expect(costs.bytes.snowflake / costs.bytes.sum).toBeLessThan(1.5);
  });
});

describe('a request to the built server', () => {
  let servers: ServersUnderTest;

  beforeAll(async () => {
    servers = await ServersUnderTest.start();
  });

  afterAll(() => servers.end());

  it('costs little more than raw node:http, for one ID as for a hundred', async () => {
    const { raw, segment, snowflake, batch, range } = await servers.measure({
      raw: ['raw', '/'],
      segment: ['leaf', '/api/segment/get/leaf-segment-test'],
      snowflake: ['leaf', '/api/snowflake/get/order'],
      batch: ['leaf', '/api/segment/batch/leaf-segment-test?size=100'],
      range: ['leaf', '/api/segment/range/leaf-segment-test?size=100'],
    });
    // Through the framework it is twice as much for one ID or a range, and three times for a hundred.
    expect(segment / raw).toBeLessThan(1.4);
    expect(snowflake / raw).toBeLessThan(1.4);
    expect(range / raw).toBeLessThan(1.6);
    expect(batch / raw).toBeLessThan(2.2);
    expect((100 * segment) / batch).toBeGreaterThan(40);
  });
});
