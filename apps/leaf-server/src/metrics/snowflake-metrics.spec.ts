import { FakeClock } from '@leaf/core';
import type { SnowflakeService } from '@leaf/snowflake';
import { Families } from './families';
import { addSnowflakeMetrics } from './snowflake-metrics';

describe('leaf_clock_offset_seconds', () => {
  async function said(clockOffsetMs: number | undefined): Promise<string | undefined> {
    const families = new Families();
    const snowflake = { snapshot: () => ({ clockOffsetMs }) };
    addSnowflakeMetrics(families, snowflake as unknown as SnowflakeService, new FakeClock());
    const text = await families.registry.getSingleMetricAsString('leaf_clock_offset_seconds');
    return /^leaf_clock_offset_seconds (.*)$/m.exec(text)?.[1];
  }

  it.each([
    [-250, '-0.25'],
    [0, '0'],
  ])('of %d ms', async (offsetMs, seconds) => {
    expect(await said(offsetMs)).toBe(seconds);
  });

  it('is not told when there was nobody to compare with: 0 would be a clock that is right', async () => {
    expect(await said(undefined)).toBeUndefined();
  });
});
