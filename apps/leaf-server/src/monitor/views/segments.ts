import { ApiProperty, ApiSchema } from '../../openapi/decorators';
import { TAG } from '../../openapi/schemas';

/** Like an ID, and up to one past the highest of them. */
const NEXT_ID = { type: 'string', pattern: '^[0-9]{1,19}$', example: '1201' } as const;

@ApiSchema({ name: 'MonitorSegment', nullable: true })
export class SegmentView {
  @ApiProperty({ ...NEXT_ID, description: 'The next ID of it.' })
  readonly value!: string;

  @ApiProperty({ ...NEXT_ID, description: 'One past its last ID.', example: '2001' })
  readonly max!: string;

  @ApiProperty({ type: 'integer', description: 'Its size.', example: 1000 })
  readonly step!: number;
}

@ApiSchema({ name: 'MonitorLoad' })
export class LoadView {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'When the last segment came, in Unix milliseconds.',
    example: 1_795_262_390_000,
  })
  readonly at!: number | null;

  @ApiProperty({ type: 'number', nullable: true, description: 'How long the database took for it.', example: 1.84 })
  readonly ms!: number | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the newest load failed.' })
  readonly error!: string | null;
}

/** One tag of `GET /api/monitor/segments` */
@ApiSchema({ name: 'MonitorTag' })
export class TagView {
  @ApiProperty(TAG)
  readonly tag!: string;

  @ApiProperty({ description: 'Its IDs ascend over all servers; it has no segments.' })
  readonly strict!: boolean;

  @ApiProperty({ description: 'A segment was loaded.' })
  readonly initialized!: boolean;

  @ApiProperty({ description: 'The next segment is there.' })
  readonly nextReady!: boolean;

  @ApiProperty({ description: 'One is on its way.' })
  readonly loading!: boolean;

  @ApiProperty({ description: 'On this server.' })
  readonly paused!: boolean;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Of a tag that begins anew: the newest period in use, whose segments are shown.',
    example: '2026-11',
  })
  readonly period!: string | null;

  @ApiProperty({ ...NEXT_ID, nullable: true, description: 'The next ID; null before the first segment.' })
  readonly position!: string | null;

  @ApiProperty({ type: [SegmentView], description: 'Two: the one in use and the next one.' })
  readonly segments!: readonly [SegmentView | null, SegmentView | null];

  @ApiProperty({ type: 'integer', description: 'Size of the newest load; 0 before the first.', example: 1000 })
  readonly step!: number;

  @ApiProperty({ type: 'integer', description: 'Step of the row as last seen.', example: 1000 })
  readonly databaseStep!: number;

  @ApiProperty({ type: 'integer', description: 'IDs since this server knows the tag.', example: 1200 })
  readonly issued!: number;

  @ApiProperty({ type: 'integer', description: 'IDs at hand without the database.', example: 800 })
  readonly buffered!: number;

  @ApiProperty({ description: 'IDs per second, of the last minute.', example: 20.5 })
  readonly rate!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How long `buffered` lasts at that rate; null when idle.',
    example: 39_024,
  })
  readonly lastsMs!: number | null;

  @ApiProperty({ type: 'integer', description: 'Segments loaded.', example: 2 })
  readonly loads!: number;

  @ApiProperty({ type: 'integer', description: 'Loads that failed.', example: 0 })
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
    description: 'When this was seen, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly now!: number;

  @ApiProperty({ description: 'Share of a segment that is used when the next one is fetched.', example: 0.1 })
  readonly prefetchRatio!: number;

  @ApiProperty({ type: [TagView] })
  readonly tags!: readonly TagView[];
}
