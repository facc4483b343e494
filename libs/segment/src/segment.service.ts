import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  Clock,
  type DoubleBufferSnapshot,
  type IdRange,
  reasonOf,
  type PeriodicTaskSnapshot,
  SegmentIdGenerator,
  SegmentStore,
  systemRandom,
} from '@leaf/core';
import { LeafDataSource } from '@leaf/persistence';
import {
  DEFAULT_SEGMENT_MODULE_OPTIONS,
  MODULE_OPTIONS_TOKEN,
  type SegmentModuleOptions,
} from './segment.module-definition';

/** How long the give-back at the end may take before the connection closes under it. */
const CLOSE_LIMIT_MS = 5000;

/** Segment mode in a Nest application: knows the tags from the start, gives unused IDs back at the end. */
@Injectable()
export class SegmentService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(SegmentService.name);
  private readonly generator: SegmentIdGenerator;

  constructor(
    store: SegmentStore,
    dataSource: LeafDataSource,
    clock: Clock,
    @Inject(MODULE_OPTIONS_TOKEN) options: SegmentModuleOptions,
  ) {
    const resolved = { ...DEFAULT_SEGMENT_MODULE_OPTIONS, ...options };
    this.generator = new SegmentIdGenerator(store, clock, systemRandom, resolved, {
      onLoadFailed: (tag, error) => this.logger.warn(`No new segment for tag "${tag}": ${reasonOf(error)}`),
      onRefreshFailed: (error) => {
        this.logger.warn(`The tags stay as they are, the refresh failed: ${reasonOf(error)}`);
      },
    });
    dataSource.users.add('give unused IDs back', CLOSE_LIMIT_MS, () => this.onApplicationShutdown());
  }

  async onModuleInit(): Promise<void> {
    await this.refreshTags();
  }

  tryNext(tag: string): bigint | undefined {
    return this.generator.tryNext(tag);
  }

  /** @throws LeafError see {@link SegmentIdGenerator.next} */
  next(tag: string): Promise<bigint> {
    return this.generator.next(tag);
  }

  /** @throws LeafError see {@link SegmentIdGenerator.takeRanges} */
  takeRanges(tag: string, count: number): Promise<IdRange[]> {
    return this.generator.takeRanges(tag, count);
  }

  /** Brings the tag set in line with the database; joins a refresh under way. Never rejects. */
  refreshTags(): Promise<void> {
    return this.generator.refresh.run();
  }

  refreshSnapshot(): PeriodicTaskSnapshot {
    return this.generator.refresh.snapshot();
  }

  snapshot(): DoubleBufferSnapshot[] {
    return this.generator.snapshot();
  }

  /** Gives what was not issued back to the database. Later calls join the first. */
  async onApplicationShutdown(): Promise<void> {
    try {
      await this.generator.close();
    } catch (error) {
      this.logger.warn(`Not all unused IDs were given back, a gap remains: ${reasonOf(error)}`);
    }
  }
}
