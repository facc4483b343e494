import { ApiProperty, ApiSchema } from '../../openapi/decorators';

@ApiSchema({ name: 'MonitorPeer' })
export class PeerView {
  @ApiProperty({ description: '`ip:port`.', example: '10.0.0.8:8080' })
  readonly instance!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Null if the registry does not provide it.',
    example: 2,
  })
  readonly workerId!: number | null;
}

@ApiSchema({ name: 'MonitorReport' })
class ReportView {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Time at which the registry last recorded a ceiling, in Unix milliseconds.',
    example: 1_795_262_398_000,
  })
  readonly at!: number | null;

  @ApiProperty({ type: 'integer', description: 'Number of failed reports.', example: 0 })
  readonly failures!: number;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the latest report failed.' })
  readonly error!: string | null;
}

@ApiSchema({ name: 'MonitorClock' })
class ClockView {
  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'Offset from the clocks of the peers at startup, in milliseconds; null if there were no peers.',
    example: 3.2,
  })
  readonly offsetMs!: number | null;

  @ApiProperty({ type: 'integer', description: 'Number of backward clock steps since the start.', example: 0 })
  readonly backwardsSteps!: number;
}

@ApiSchema({ name: 'MonitorLayout' })
class LayoutView {
  @ApiProperty({
    type: 'integer',
    description: 'Start of the time field, in Unix milliseconds.',
    example: 1_288_834_974_657,
  })
  readonly epoch!: number;

  @ApiProperty({ type: 'integer', description: 'Number of bits for the time.', example: 41 })
  readonly timeBits!: number;

  @ApiProperty({ type: 'integer', description: 'Number of bits for the worker ID.', example: 10 })
  readonly workerBits!: number;

  @ApiProperty({
    type: 'integer',
    description: 'How many of the worker bits, the upper ones, are the number of a data center.',
    example: 0,
  })
  readonly datacenterBits!: number;

  @ApiProperty({ type: 'integer', description: 'Number of bits for the sequence.', example: 12 })
  readonly sequenceBits!: number;

  @ApiProperty({
    type: 'integer',
    description: 'The last representable time, in Unix milliseconds.',
    example: 3_487_858_230_208,
  })
  readonly endsAt!: number;
}

@ApiSchema({ name: 'MonitorProcessWorker' })
export class WorkerView {
  @ApiProperty({ description: 'Registry that assigned the worker ID.', example: 'mysql' })
  readonly registry!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Worker ID in every ID of this server; null if none is assigned.',
    example: 1,
  })
  readonly workerId!: number | null;

  @ApiProperty({ type: 'integer', description: 'The lowest worker ID that this server may have.', example: 0 })
  readonly minWorkerId!: number;

  @ApiProperty({ type: 'integer', description: 'The highest worker ID that this server may have.', example: 1023 })
  readonly maxWorkerId!: number;

  @ApiProperty({
    description: 'Advertised `ip:port` of this server.',
    example: '10.0.0.7:8080',
  })
  readonly instance!: string;

  @ApiProperty({
    type: 'integer',
    description: 'All IDs have a later time, in Unix milliseconds.',
    example: 1_795_258_799_000,
  })
  readonly floor!: number;

  @ApiProperty({
    type: 'integer',
    description: 'No ID has a later time, in Unix milliseconds.',
    example: 1_795_262_408_000,
  })
  readonly ceiling!: number;

  @ApiProperty({ type: 'integer', description: 'Lease TTL in milliseconds.', example: 10_000 })
  readonly horizonMs!: number;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why the server no longer owns the worker ID.',
  })
  readonly lost!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why the server uses its worker file; null while the registry is reachable.',
  })
  readonly trouble!: string | null;

  @ApiProperty()
  readonly report!: ReportView;

  @ApiProperty()
  readonly clock!: ClockView;

  @ApiProperty({ type: 'integer', description: 'IDs issued since the start.', example: 45_000 })
  readonly issued!: number;

  @ApiProperty()
  readonly layout!: LayoutView;

  @ApiProperty({ type: [PeerView], description: 'All servers in the registry.' })
  readonly peers!: readonly PeerView[];
}

// OpenAPI 3.0 cannot mark a $ref as nullable.
@ApiSchema({ name: 'MonitorWorker', nullable: true, description: 'Null if snowflake mode is off.' })
class WorkerOrNullView extends WorkerView {}

@ApiSchema({
  name: 'MonitorRefusal',
  nullable: true,
  description: 'Why no ID can be issued; null if IDs can be issued.',
})
class RefusalView {
  @ApiProperty({ description: 'Error code, as in a problem document.', example: 'LEAF_CLOCK_BACKWARDS' })
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
    description: 'Time of this snapshot, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly now!: number;

  @ApiProperty({ type: WorkerOrNullView })
  readonly worker!: WorkerView | null;

  @ApiProperty({ type: [WorkerView], description: 'One for each process; `worker` is the first of them.' })
  readonly workers!: readonly WorkerView[];

  @ApiProperty({ type: RefusalView })
  readonly refusal!: RefusalView | null;
}
