import { ApiProperty, ApiSchema } from '../../openapi/decorators';

export type PartStatus = 'up' | 'degraded' | 'down' | 'off';

const MILLISECONDS = { type: 'integer', example: 1_795_258_800_000 } as const;
const RATES = { type: 'array', items: { type: 'number', example: 1250.4 } } as const;

/** One thing that the server stands on, or is made of. */
@ApiSchema({ name: 'MonitorPart' })
export class PartView {
  @ApiProperty({ enum: ['segment', 'snowflake', 'database', 'registry', 'clock', 'drain'] })
  readonly name!: 'segment' | 'snowflake' | 'database' | 'registry' | 'clock' | 'drain';

  @ApiProperty({ enum: ['up', 'degraded', 'down', 'off'] })
  readonly status!: PartStatus;

  /** `mysql://db:3306/leaf`, `zk_recycle (…), worker 39`. */
  @ApiProperty({ description: 'What it is, without secrets.', example: '1 tag' })
  readonly description!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why it is not up.' })
  readonly reason!: string | null;
}

@ApiSchema({ name: 'MonitorHistory', description: 'The last 15 minutes.' })
export class HistoryView {
  @ApiProperty({ type: 'integer', description: 'How long a step is.', example: 5000 })
  readonly stepMs!: number;

  @ApiProperty({
    type: 'integer',
    description: 'When the last step ended, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly endsAt!: number;

  @ApiProperty({ ...RATES, description: 'Segment IDs per second, a step each, the oldest first.' })
  readonly segment!: readonly number[];

  @ApiProperty({ ...RATES, description: 'Snowflake IDs per second.' })
  readonly snowflake!: readonly number[];

  @ApiProperty({ ...RATES, description: 'Answers with a status of 400 or above, per second.' })
  readonly errors!: readonly number[];
}

@ApiSchema({
  name: 'MonitorLatency',
  nullable: true,
  description: 'Of the last minute, in milliseconds; null without a request.',
})
export class LatencyView {
  @ApiProperty({ description: 'Half of the requests took no longer.', example: 0.08 })
  readonly p50!: number;

  @ApiProperty({ description: 'Of 100 requests 99 took no longer.', example: 0.9 })
  readonly p99!: number;

  @ApiProperty({ description: 'Of 1000 requests 999 took no longer.', example: 4.2 })
  readonly p999!: number;
}

@ApiSchema({ name: 'MonitorIssued' })
export class IssuedView {
  @ApiProperty({ type: 'integer', description: 'Segment IDs since the start.', example: 120_000 })
  readonly segment!: number;

  @ApiProperty({ type: 'integer', description: 'Snowflake IDs since the start.', example: 45_000 })
  readonly snowflake!: number;
}

@ApiSchema({ name: 'MonitorRate' })
export class RateView {
  @ApiProperty({ description: 'Segment IDs per second, of the last seconds.', example: 1250.4 })
  readonly segment!: number;

  @ApiProperty({ description: 'Snowflake IDs per second, of the last seconds.', example: 310.2 })
  readonly snowflake!: number;
}

// A reference has no room for "or null": what may be null is so wherever it is used, and has a name of its own.
@ApiSchema({ name: 'MonitorProcessIssued', nullable: true })
class ProcessIssuedView extends IssuedView {}

@ApiSchema({ name: 'MonitorProcessRate', nullable: true })
class ProcessRateView extends RateView {}

/** One of the processes that are the server. What follows `reason` is null for one that does not answer. */
@ApiSchema({ name: 'MonitorProcess' })
export class ProcessView {
  @ApiProperty({ type: 'integer', description: 'From 0.', example: 0 })
  readonly process!: number;

  @ApiProperty({ description: 'Whether it takes requests.' })
  readonly ready!: boolean;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why nothing, or not all, is known of it.' })
  readonly reason!: string | null;

  @ApiProperty({ ...MILLISECONDS, nullable: true, description: 'Unix milliseconds; null when it does not answer.' })
  readonly startedAt!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null with snowflake mode off, too.', example: 1 })
  readonly workerId!: number | null;

  @ApiProperty({ type: ProcessIssuedView })
  readonly issued!: IssuedView | null;

  @ApiProperty({ type: ProcessRateView })
  readonly rate!: RateView | null;
}

/** `GET /api/monitor/overview` */
@ApiSchema({ name: 'MonitorOverview' })
export class OverviewView {
  @ApiProperty({ description: '`LEAF_NAME`.', example: 'leaf' })
  readonly name!: string;

  @ApiProperty({ description: 'Of this server.', example: '0.1.0' })
  readonly version!: string;

  @ApiProperty({
    description: '`ip:port` by which the other servers know this one.',
    example: '10.0.0.7:8080',
  })
  readonly instance!: string;

  @ApiProperty({
    type: 'integer',
    description: 'When this was seen, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly now!: number;

  @ApiProperty({ ...MILLISECONDS, description: 'Unix milliseconds.' })
  readonly startedAt!: number;

  @ApiProperty({ description: 'What `/health/ready` says.' })
  readonly ready!: boolean;

  @ApiProperty({ type: [PartView], description: 'What this server stands on and is made of.' })
  readonly parts!: readonly PartView[];

  @ApiProperty()
  readonly issued!: IssuedView;

  @ApiProperty()
  readonly rate!: RateView;

  @ApiProperty({
    description: 'Answers with a status of 400 or above per second, of the last seconds.',
    example: 0,
  })
  readonly errorRate!: number;

  @ApiProperty({ type: LatencyView })
  readonly latencyMs!: LatencyView | null;

  @ApiProperty()
  readonly history!: HistoryView;

  @ApiProperty({
    type: [ProcessView],
    description: 'The processes of this server; all above is of them together.',
  })
  readonly processes!: readonly ProcessView[];
}
