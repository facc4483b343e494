import { withDefaults } from '@leaf-ids/core/internal';
import { DEFAULT_SEGMENT_MODULE_OPTIONS, type SegmentModuleOptions } from '../segment/segment-options';
import type { SegmentService } from '../segment/segment.service';
import { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, type SnowflakeModuleOptions } from '../snowflake/snowflake-options';
import type { SnowflakeService } from '../snowflake/snowflake.service';

/** Interval between two saves of the hot tags, in milliseconds. */
const HOT_TAGS_MS = 300_000;

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Also run the job at the start. */
  readonly atStart?: boolean;
  readonly run: () => Promise<void>;
}

/** Refreshes the tags; saves the hot tags if a file is configured, in case the process is killed. */
export function segmentJobs(segments: SegmentService, options: SegmentModuleOptions): Job[] {
  const { refreshMs, hotTagsFile } = withDefaults(DEFAULT_SEGMENT_MODULE_OPTIONS, options);
  const refresh = { name: 'leaf-tag-refresh', everyMs: refreshMs, run: () => segments.generator.refresh.run() };
  const save = { name: 'leaf-hot-tags', everyMs: HOT_TAGS_MS, run: () => segments.saveHotTags() };
  return hotTagsFile === undefined ? [refresh] : [refresh, save];
}

/** Extends the lease, and maintains the worker registry. */
export function snowflakeJobs(snowflake: SnowflakeService, options: SnowflakeModuleOptions, reportMs: number): Job[] {
  const { maintainMs } = withDefaults(DEFAULT_SNOWFLAKE_MODULE_OPTIONS, options);
  return [
    { name: 'leaf-time-report', everyMs: reportMs, run: () => snowflake.reportTime() },
    {
      name: 'leaf-registry-maintenance',
      everyMs: maintainMs,
      atStart: true,
      run: () => snowflake.maintainRegistry(),
    },
  ];
}

/**
 * The periodic jobs of a runtime, each with its own timer. Each job is a periodic task: its runs never overlap and
 * never reject. After the timers have stopped, the generator extends the lease when half of the horizon is used.
 */
export class Jobs {
  /** The running timers by name, for the `SchedulerRegistry` of @nestjs/schedule. */
  readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(private readonly jobs: readonly Job[]) {}

  start(): void {
    for (const { name, everyMs, atStart, run } of this.jobs) {
      const timer = setInterval(() => void run(), everyMs);
      this.timers.set(name, timer);
      if (atStart) void run();
    }
  }

  stop(): void {
    for (const timer of this.timers.values()) clearInterval(timer);
    this.timers.clear();
  }
}
