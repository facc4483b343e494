import { ApiProperty, ApiSchema } from '../../openapi/decorators';
import { TAG } from '../../openapi/schemas';

/** An ID, or one past the highest ID. */
const NEXT_ID = { type: 'string', pattern: '^[0-9]{1,19}$', example: '1201' } as const;

@ApiSchema({ name: 'MonitorSegment', nullable: true })
export class SegmentView {
  @ApiProperty({ ...NEXT_ID, description: 'The next ID of the segment.' })
  readonly value!: string;

  @ApiProperty({ ...NEXT_ID, description: 'One past the last ID of the segment.', example: '2001' })
  readonly max!: string;

  @ApiProperty({ type: 'integer', description: 'Size of the segment.', example: 1000 })
  readonly step!: number;
}

@ApiSchema({ name: 'MonitorLoad' })
export class LoadView {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Time at which the last segment was loaded, in Unix milliseconds.',
    example: 1_795_262_390_000,
  })
  readonly at!: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'Duration of that load, in milliseconds.',
    example: 1.84,
  })
  readonly ms!: number | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the latest load failed.' })
  readonly error!: string | null;
}

/** One tag of `GET /api/monitor/segments` */
@ApiSchema({ name: 'MonitorTag' })
export class MonitorTag {
  @ApiProperty(TAG)
  readonly tag!: string;

  @ApiProperty({ description: 'Whether its IDs ascend across all servers. Strict tags have no segments.' })
  readonly strict!: boolean;

  @ApiProperty({ description: 'Whether a segment has been loaded.' })
  readonly initialized!: boolean;

  @ApiProperty({ description: 'Whether the next segment is loaded.' })
  readonly nextReady!: boolean;

  @ApiProperty({ description: 'Whether a segment is being loaded.' })
  readonly loading!: boolean;

  @ApiProperty({ description: 'Whether the tag is paused on this server.' })
  readonly paused!: boolean;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'For a tag that restarts each period: the newest period in use, to which `segments` belongs.',
    example: '2026-11',
  })
  readonly period!: string | null;

  @ApiProperty({ ...NEXT_ID, nullable: true, description: 'The next ID; null before the first segment.' })
  readonly position!: string | null;

  @ApiProperty({ type: [SegmentView], description: 'The current segment and the next one.' })
  readonly segments!: readonly [SegmentView | null, SegmentView | null];

  @ApiProperty({ type: 'integer', description: 'Size of the latest load; 0 before the first.', example: 1000 })
  readonly step!: number;

  @ApiProperty({ type: 'integer', description: '`step` of the row when last read.', example: 1000 })
  readonly databaseStep!: number;

  @ApiProperty({ type: 'integer', description: 'IDs issued since this server loaded the tag.', example: 1200 })
  readonly issued!: number;

  @ApiProperty({ type: 'integer', description: 'IDs available without the database.', example: 800 })
  readonly buffered!: number;

  @ApiProperty({ description: 'IDs per second over the last minute.', example: 20.5 })
  readonly rate!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How long `buffered` lasts at that rate, in milliseconds; null if idle.',
    example: 39_024,
  })
  readonly lastsMs!: number | null;

  @ApiProperty({ type: 'integer', description: 'Number of segments loaded.', example: 2 })
  readonly loads!: number;

  @ApiProperty({ type: 'integer', description: 'Number of failed loads.', example: 0 })
  readonly failures!: number;

  @ApiProperty()
  readonly lastLoad!: LoadView;
}

/** `GET /api/monitor/segments` */
@ApiSchema({ name: 'MonitorSegments' })
export class SegmentsView {
  @ApiProperty({ description: 'Whether segment mode is on.' })
  readonly enabled!: boolean;

  @ApiProperty({
    type: 'integer',
    description: 'Time of this snapshot, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly now!: number;

  @ApiProperty({ description: 'Used share of a segment at which the next one is loaded.', example: 0.1 })
  readonly prefetchRatio!: number;

  @ApiProperty({ type: [MonitorTag] })
  readonly tags!: readonly MonitorTag[];
}
