import { ApiProperty, ApiSchema } from '../../openapi/decorators';

/** States that a server reports of itself. */
export const SERVER_STATES = ['ready', 'degraded', 'starting', 'down', 'draining'] as const;
export type ServerState = (typeof SERVER_STATES)[number];
export type PartStatus = 'up' | 'degraded' | 'down' | 'off';

const MILLISECONDS = { type: 'integer', example: 1_795_258_800_000 } as const;
const RATES = { type: 'array', items: { type: 'number', example: 1250.4 } } as const;

/** A component or dependency of the server. */
@ApiSchema({ name: 'MonitorPart' })
export class PartView {
  @ApiProperty({ enum: ['segment', 'snowflake', 'database', 'registry', 'clock', 'drain'] })
  readonly name!: 'segment' | 'snowflake' | 'database' | 'registry' | 'clock' | 'drain';

  @ApiProperty({ enum: ['up', 'degraded', 'down', 'off'] })
  readonly status!: PartStatus;

  /** `mysql://db:3306/leaf`, `zk_recycle (…), worker 39`. */
  @ApiProperty({ description: 'Description without secrets.', example: '1 tag' })
  readonly description!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the status is not `up`.' })
  readonly reason!: string | null;
}

@ApiSchema({ name: 'MonitorHistory', description: 'The last 15 minutes.' })
export class HistoryView {
  @ApiProperty({ type: 'integer', description: 'Length of a step, in milliseconds.', example: 5000 })
  readonly stepMs!: number;

  @ApiProperty({
    type: 'integer',
    description: 'End of the last step, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly endsAt!: number;

  @ApiProperty({ ...RATES, description: 'Segment IDs per second for each step, oldest first.' })
  readonly segment!: readonly number[];

  @ApiProperty({ ...RATES, description: 'Snowflake IDs per second.' })
  readonly snowflake!: readonly number[];

  @ApiProperty({ ...RATES, description: 'Responses with a status of 400 or above, per second.' })
  readonly errors!: readonly number[];
}

@ApiSchema({
  name: 'MonitorLatency',
  nullable: true,
  description: 'Request latency in the last minute, in milliseconds; null if there were no requests.',
})
export class LatencyView {
  @ApiProperty({ description: 'Median.', example: 0.08 })
  readonly p50!: number;

  @ApiProperty({ description: '99th percentile.', example: 0.9 })
  readonly p99!: number;

  @ApiProperty({ description: '99.9th percentile.', example: 4.2 })
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
  @ApiProperty({ description: 'Segment IDs per second over the last few seconds.', example: 1250.4 })
  readonly segment!: number;

  @ApiProperty({ description: 'Snowflake IDs per second over the last few seconds.', example: 310.2 })
  readonly snowflake!: number;
}

// OpenAPI 3.0 cannot mark a $ref as nullable, so each nullable object is a schema of its own.
@ApiSchema({ name: 'MonitorProcessIssued', nullable: true })
class ProcessIssuedView extends IssuedView {}

@ApiSchema({ name: 'MonitorProcessRate', nullable: true })
class ProcessRateView extends RateView {}

/** One process of the server. The properties after `reason` are null if the process does not respond. */
@ApiSchema({ name: 'MonitorProcess' })
export class ProcessView {
  @ApiProperty({ type: 'integer', description: 'Index of the process, from 0.', example: 0 })
  readonly process!: number;

  @ApiProperty({ description: 'Whether the process accepts requests.' })
  readonly ready!: boolean;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why some or all of its data is missing.' })
  readonly reason!: string | null;

  @ApiProperty({
    ...MILLISECONDS,
    nullable: true,
    description: 'Start time in Unix milliseconds; null if the process does not respond.',
  })
  readonly startedAt!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Null if the process does not respond or snowflake mode is off.',
    example: 1,
  })
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

  @ApiProperty({ description: 'Version of this server.', example: '0.1.0' })
  readonly version!: string;

  @ApiProperty({
    description: 'Advertised `ip:port` of this server.',
    example: '10.0.0.7:8080',
  })
  readonly instance!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Time of this snapshot, in Unix milliseconds.',
    example: 1_795_262_400_000,
  })
  readonly now!: number;

  @ApiProperty({ ...MILLISECONDS, description: 'Start time of the server, in Unix milliseconds.' })
  readonly startedAt!: number;

  @ApiProperty({ description: 'Whether `/health/ready` returns 200.' })
  readonly ready!: boolean;

  @ApiProperty({
    enum: SERVER_STATES,
    description: '`degraded`: IDs are issued, but a part needs attention. `starting` and `down`: not ready.',
  })
  readonly state!: ServerState;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the worst part is not `up`.' })
  readonly reason!: string | null;

  @ApiProperty({ type: [PartView], description: 'Components and dependencies of this server.' })
  readonly parts!: readonly PartView[];

  @ApiProperty({ type: [String], description: 'Clients whose requests an operator has blocked.', example: [] })
  readonly blockedClients!: readonly string[];

  @ApiProperty()
  readonly issued!: IssuedView;

  @ApiProperty()
  readonly rate!: RateView;

  @ApiProperty({
    description: 'Responses with a status of 400 or above per second over the last few seconds.',
    example: 0,
  })
  readonly errorRate!: number;

  @ApiProperty({ type: LatencyView })
  readonly latencyMs!: LatencyView | null;

  @ApiProperty()
  readonly history!: HistoryView;

  @ApiProperty({
    type: [ProcessView],
    description: 'The processes of this server. All other properties are totals of the processes.',
  })
  readonly processes!: readonly ProcessView[];
}
