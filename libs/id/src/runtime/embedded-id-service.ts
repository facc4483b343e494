import {
  type IdRange,
  IdService,
  idsOf,
  LeafError,
  MAX_BATCH_SIZE,
  MAX_RANGE_SIZE,
  type PeriodNumber,
  type PeriodRanges,
  sizeOf,
  type SnowflakeParts,
  type TagReset,
} from '@leaf-ids/core';
import { assertCount, onlyNumber, type SegmentIdGenerator, type SnowflakeGenerator } from '@leaf-ids/core/internal';
import type { SegmentService } from '../segment/segment.service';
import type { SnowflakeService } from '../snowflake/snowflake.service';
import type { LeafReadiness, LeafStatus } from './status';

interface Runtime {
  status(): LeafStatus;
  readiness(): LeafReadiness;
}

/** Segment and snowflake IDs from this process. Methods of a disabled mode reject or throw. */
export class EmbeddedIdService extends IdService {
  constructor(
    readonly segmentService: SegmentService | undefined,
    readonly snowflakeService: SnowflakeService | undefined,
    private readonly runtime: Runtime,
  ) {
    super();
  }

  /** See {@link Leaf.status}. */
  status(): LeafStatus {
    return this.runtime.status();
  }

  /** See {@link Leaf.readiness}. */
  readiness(): LeafReadiness {
    return this.runtime.readiness();
  }

  async nextId(tag: string): Promise<bigint> {
    return this.tryNext(tag) ?? this.segmentMode().next(tag);
  }

  async nextIdString(tag: string): Promise<string> {
    return String(await this.nextId(tag));
  }

  async nextIds(tag: string, count: number): Promise<bigint[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return idsOf(await this.segmentMode().takeRanges(tag, count));
  }

  async nextRanges(tag: string, count: number): Promise<IdRange[]> {
    assertCount(count, MAX_RANGE_SIZE);
    return this.segmentMode().takeRanges(tag, count);
  }

  /**
   * The next `count` IDs of `tag` as one range. Buffered IDs below it become a gap.
   *
   * @param count 1 to 1,000,000
   * @throws LeafError as {@link nextRanges}; `LEAF_SIZE_INVALID` if the databases allocate fewer consecutive IDs
   */
  async nextRun(tag: string, count: number): Promise<IdRange> {
    assertCount(count, MAX_RANGE_SIZE);
    return runOf(await this.segmentMode().takeRanges(tag, count, true), count);
  }

  /** As {@link nextRun}, but synchronous; undefined when that would wait or reject. */
  tryRun(tag: string, count: number): IdRange | undefined {
    const ranges = this.segmentService?.generator.tryRanges(tag, count, true);
    return ranges && runOf(ranges, count);
  }

  async nextInPeriod(tag: string, at?: Date): Promise<PeriodNumber> {
    return onlyNumber(await this.nextRangesInPeriod(tag, 1, at));
  }

  async nextRangesInPeriod(tag: string, count: number, at?: Date): Promise<PeriodRanges> {
    assertCount(count, MAX_RANGE_SIZE);
    return this.segmentMode().takeInPeriod(tag, count, at?.getTime());
  }

  /**
   * How often the numbers of a tag restart.
   *
   * @throws LeafError as {@link nextRangesInPeriod}
   */
  async resetOf(tag: string): Promise<TagReset> {
    return this.segmentMode().resetOf(tag);
  }

  tryNext(tag: string): bigint | undefined {
    return this.segmentService?.generator.tryNext(tag);
  }

  tryNextNumber(tag: string): number | undefined {
    return this.segmentService?.generator.tryNextNumber(tag);
  }

  /** Whether the IDs of a tag ascend over all servers; false for an unknown tag. */
  isStrict(tag: string): boolean {
    return this.segmentService?.generator.isStrict(tag) ?? false;
  }

  /** As {@link nextRanges}, but synchronous; undefined when that would wait or reject. */
  tryRanges(tag: string, count: number): IdRange[] | undefined {
    return this.segmentService?.generator.tryRanges(tag, count);
  }

  snowflake(): bigint {
    return this.generator().next();
  }

  snowflakeString(): string {
    return this.generator().nextString();
  }

  override trySnowflake(): bigint | undefined {
    return this.snowflakeService?.generator.tryNext();
  }

  trySnowflakeString(): string | undefined {
    return this.snowflakeService?.generator.tryNextString();
  }

  /** `count` consecutive snowflake IDs; undefined when the call would wait or throw. */
  trySnowflakeRange(count: number): IdRange | undefined {
    return this.snowflakeService?.generator.tryRange(count);
  }

  /** As {@link snowflakes}, as ascending ranges. */
  async snowflakeRanges(count: number): Promise<IdRange[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return this.generator().takeRanges(count);
  }

  async snowflakes(count: number): Promise<bigint[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return this.generator().take(count);
  }

  async snowflakeStrings(count: number): Promise<string[]> {
    assertCount(count, MAX_BATCH_SIZE);
    return this.generator().takeStrings(count);
  }

  decode(id: bigint): SnowflakeParts {
    return this.snowflakeMode().layout.decompose(id);
  }

  private segmentMode(): SegmentIdGenerator {
    if (this.segmentService !== undefined) return this.segmentService.generator;
    throw new LeafError('LEAF_SEGMENT_DISABLED', 'Segment mode is disabled. To enable it, set the option segment.');
  }

  private generator(): SnowflakeGenerator {
    return this.snowflakeMode().generator;
  }

  private snowflakeMode(): SnowflakeService {
    if (this.snowflakeService !== undefined) return this.snowflakeService;
    throw new LeafError(
      'LEAF_SNOWFLAKE_DISABLED',
      'Snowflake mode is disabled. To enable it, set the option snowflake.',
    );
  }
}

/** Joins ranges that adjoin each other. The caller will use all IDs between the first and the last one. */
function runOf(ranges: readonly IdRange[], count: number): IdRange {
  const run = { from: ranges[0]?.from ?? 0n, to: ranges.at(-1)?.to ?? 0n };
  if (sizeOf(run) !== count) throw new Error('The ranges do not adjoin each other.');
  return run;
}
