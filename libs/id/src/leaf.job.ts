import { DEFAULT_SEGMENT_MODULE_OPTIONS, type SegmentModuleOptions, type SegmentService } from '@leaf-ids/segment';
import {
  DEFAULT_SNOWFLAKE_MODULE_OPTIONS,
  type SnowflakeModuleOptions,
  type SnowflakeService,
} from '@leaf-ids/snowflake';

const HOT_TAGS_MS = 300_000;

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** It runs at the start as well. */
  readonly atStart?: boolean;
  readonly run: () => Promise<void>;
}

/** Refreshes the tags; saves the hot ones for a process that is killed, where there is a file to save them in. */
export function segmentJobs(segments: SegmentService, options: SegmentModuleOptions): Job[] {
  const { refreshMs, hotTagsFile } = { ...DEFAULT_SEGMENT_MODULE_OPTIONS, ...options };
  const refresh = { name: 'leaf-tag-refresh', everyMs: refreshMs, run: () => segments.refreshTags() };
  const save = { name: 'leaf-hot-tags', everyMs: HOT_TAGS_MS, run: () => segments.saveHotTags() };
  return hotTagsFile === undefined ? [refresh] : [refresh, save];
}

/** Reserves time ahead, and does the housekeeping of the worker registry. */
export function snowflakeJobs(snowflake: SnowflakeService, options: SnowflakeModuleOptions): Job[] {
  const { reportMs, maintainMs } = { ...DEFAULT_SNOWFLAKE_MODULE_OPTIONS, ...options };
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
 * The periodic jobs of a runtime, each on a timer. Runs never overlap and never reject: the jobs are periodic tasks. Once
 * the timers have ended, the generator renews the lease when half of the horizon is used.
 */
export class Jobs {
  /** By name, while they run: `SchedulerRegistry` of @nestjs/schedule lists them. */
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
