import { ApiProperty, ApiSchema } from '../../openapi/decorators';

@ApiSchema({ name: 'MonitorPeer' })
export class PeerView {
  @ApiProperty({ description: '`ip:port`.', example: '10.0.0.8:8080' })
  readonly instance!: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null when the registry does not tell.', example: 2 })
  readonly workerId!: number | null;
}

@ApiSchema({ name: 'MonitorReport' })
class ReportView {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'When the registry last recorded a ceiling, in Unix milliseconds.',
    example: 1_795_262_398_000,
  })
  readonly at!: number | null;

  @ApiProperty({ type: 'integer', description: 'Reports that failed.', example: 0 })
  readonly failures!: number;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the newest report failed.' })
  readonly error!: string | null;
}

@ApiSchema({ name: 'MonitorClock' })
class ClockView {
  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'Against those of the others, at the start; null when there were none.',
    example: 3.2,
  })
  readonly offsetMs!: number | null;

  @ApiProperty({ type: 'integer', description: 'Steps backwards since the start.', example: 0 })
  readonly backwardsSteps!: number;
}

@ApiSchema({ name: 'MonitorLayout' })
class LayoutView {
  @ApiProperty({
    type: 'integer',
    description: 'Where its time begins, in Unix milliseconds.',
    example: 1_288_834_974_657,
  })
  readonly epoch!: number;

  @ApiProperty({ type: 'integer', description: 'Bits of the time.', example: 41 })
  readonly timeBits!: number;

  @ApiProperty({ type: 'integer', description: 'Bits of the worker ID.', example: 10 })
  readonly workerBits!: number;

  @ApiProperty({ type: 'integer', description: 'Bits of the sequence.', example: 12 })
  readonly sequenceBits!: number;

  @ApiProperty({
    type: 'integer',
    description: 'The last millisecond that it can express.',
    example: 3_487_858_230_208,
  })
  readonly endsAt!: number;
}

@ApiSchema({ name: 'MonitorProcessWorker' })
export class WorkerView {
  @ApiProperty({ description: 'Who gave the worker ID.', example: 'mysql' })
  readonly registry!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Part of every ID of this server; null while it has none.',
    example: 1,
  })
  readonly workerId!: number | null;

  @ApiProperty({ type: 'integer', description: 'The highest that there is.', example: 1023 })
  readonly maxWorkerId!: number;

  @ApiProperty({
    description: '`ip:port` by which the other servers know this one.',
    example: '10.0.0.7:8080',
  })
  readonly instance!: string;

  @ApiProperty({
    type: 'integer',
    description: 'No ID carries a time at or below it.',
    example: 1_795_258_799_000,
  })
  readonly floor!: number;

  @ApiProperty({ type: 'integer', description: 'No ID carries a time above it.', example: 1_795_262_408_000 })
  readonly ceiling!: number;

  @ApiProperty({ type: 'integer', description: 'How far ahead time is reserved.', example: 10_000 })
  readonly horizonMs!: number;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why the worker ID is not this server’s any more.',
  })
  readonly lost!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why the server runs from its worker file; null while the registry is reached.',
  })
  readonly trouble!: string | null;

  @ApiProperty()
  readonly report!: ReportView;

  @ApiProperty()
  readonly clock!: ClockView;

  @ApiProperty({ type: 'integer', description: 'IDs since the start.', example: 45_000 })
  readonly issued!: number;

  @ApiProperty()
  readonly layout!: LayoutView;

  @ApiProperty({ type: [PeerView], description: 'All servers of the registry.' })
  readonly peers!: readonly PeerView[];
}

// A reference has no room for "or null".
@ApiSchema({ name: 'MonitorWorker', nullable: true, description: 'Null while the mode is off.' })
class WorkerOrNullView extends WorkerView {}

@ApiSchema({
  name: 'MonitorRefusal',
  nullable: true,
  description: 'Why no ID can be issued now; null when one can.',
})
class RefusalView {
  @ApiProperty({ description: 'As of a problem.', example: 'LEAF_CLOCK_BACKWARDS' })
  readonly code!: string;

  @ApiProperty({ description: 'What happened, and what to do.' })
  readonly detail!: string;
}

/** `GET /api/monitor/snowflake` */
@ApiSchema({ name: 'MonitorSnowflake' })
export class SnowflakeView {
  @ApiProperty({ description: 'Whether snowflake mode is on.' })
  readonly enabled!: boolean;

  @ApiProperty({
    type: 'integer',
    description: 'When this was seen, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly now!: number;

  @ApiProperty({ type: WorkerOrNullView })
  readonly worker!: WorkerView | null;

  @ApiProperty({ type: [WorkerView], description: 'That of each process; the first of them is `worker`.' })
  readonly workers!: readonly WorkerView[];

  @ApiProperty({ type: RefusalView })
  readonly refusal!: RefusalView | null;
}
