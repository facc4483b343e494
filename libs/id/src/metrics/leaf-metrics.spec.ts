import { Registry } from 'prom-client';
import type { LeafStatus, SnowflakeStatus } from '../runtime/status';
import { LEAF_METRICS, metricsOf } from './leaf-metrics';
import { addMetrics } from './metric-set';

describe('The table of metrics', () => {
  it('has unique names, and counters end in _total', () => {
    const names = LEAF_METRICS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, type } of LEAF_METRICS) expect([name, /_total$/.test(name)]).toEqual([name, type === 'counter']);
  });

  it('omits the metrics of a disabled mode', () => {
    expect(metricsOf({ now: 0 }).map(({ name }) => name)).toEqual(['leaf_ids_issued_total']);
  });

  it('reads its source once per scrape', async () => {
    const registry = new Registry();
    let reads = 0;
    const tables = [1, 2].map((each) => ({
      name: `leaf_${each}`,
      type: 'gauge' as const,
      help: '',
      read: () => reads,
    }));
    addMetrics(registry, tables, () => reads++);
    for (const scrape of [1, 2]) expect(await registry.metrics()).toContain(`leaf_1 ${scrape}\n`);
    registry.resetMetrics();
    expect(reads).toBe(2);
  });
});

describe('leaf_clock_offset_seconds', () => {
  async function told(clockOffsetMs: number | undefined): Promise<string | undefined> {
    const registry = new Registry();
    const status: LeafStatus = { now: 0, snowflake: { clockOffsetMs, layout: {} } as SnowflakeStatus };
    addMetrics(registry, metricsOf(status), () => ({ status, tags: undefined }));
    const text = await registry.getSingleMetricAsString('leaf_clock_offset_seconds');
    return /^leaf_clock_offset_seconds (.*)$/m.exec(text)?.[1];
  }

  it.each([
    [-250, '-0.25'],
    [0, '0'],
  ])('of %d ms', async (offsetMs, seconds) => {
    expect(await told(offsetMs)).toBe(seconds);
  });

  it('is omitted without other servers: 0 would mean a correct clock', async () => {
    expect(await told(undefined)).toBeUndefined();
  });
});
