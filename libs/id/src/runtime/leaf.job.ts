import type { Clock } from '@leaf-ids/core';
import { Ticker, withDefaults } from '@leaf-ids/core/internal';
import { DEFAULT_SEGMENT_MODULE_OPTIONS, type SegmentModuleOptions } from '../segment/segment-options';
import type { SegmentService } from '../segment/segment.service';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from '../snowflake/snowflake-options';
import type { SnowflakeService } from '../snowflake/snowflake.service';

/** Interval between two saves of the hot tags, in milliseconds. */
const HOT_TAGS_MS = 300_000;

/** Refreshes the tags; saves the hot tags if a file is configured, in case the process is killed. */
export function segmentJobs(segments: SegmentService, clock: Clock, options: SegmentModuleOptions): Ticker[] {
  const { refreshMs, hotTagsFile } = withDefaults(DEFAULT_SEGMENT_MODULE_OPTIONS, options);
  const refresh = new Ticker('leaf-tag-refresh', () => segments.generator.refresh.run(), { everyMs: refreshMs }, clock);
  if (hotTagsFile === undefined) return [refresh];
  return [refresh, new Ticker('leaf-hot-tags', () => segments.saveHotTags(), { everyMs: HOT_TAGS_MS }, clock)];
}

/**
 * Extends the lease, and maintains the worker registry. After the jobs have stopped, the generator extends the lease
 * when half of the lease TTL is used.
 */
export function snowflakeJobs(
  snowflake: SnowflakeService,
  clock: Clock,
  options: SnowflakeModuleOptions,
  reportMs: number,
): Ticker[] {
  const { maintainMs } = withDefaults(DEFAULT_SNOWFLAKE_MODULE_OPTIONS, options);
  const maintain = { everyMs: maintainMs, atStart: true };
  return [
    new Ticker('leaf-time-report', () => snowflake.reportTime(), { everyMs: reportMs }, clock),
    new Ticker('leaf-registry-maintenance', () => snowflake.maintainRegistry(), maintain, clock),
  ];
}
