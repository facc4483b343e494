import { SERVER_STATES, type ServerState } from '../monitor/views/overview';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';

/** States of a server as another one sees it. */
const PEER_STATES = ['silent', 'refused', 'unasked'] as const;
export const CLUSTER_COMMANDS = ['drain', 'undrain', 'pause-tag', 'resume-tag'] as const;
/** Servers of one list. */
export const MAX_SERVERS = 1000;
/** How long the result of a read or of a round of requests is kept for all readers, in milliseconds. */
export const KEPT_MS = 1000;
const WORKER_KINDS = ['server', 'window'] as const;
const WORKER_STATES = ['held', 'expired', 'released'] as const;

const MILLISECONDS = { type: 'integer', example: 1_795_258_800_000 } as const;
const INSTANCE = { description: '`ip:port` of the server in the worker registry.', example: '10.0.0.7:8080' } as const;
const WORKER_ID = { type: 'integer', example: 1 } as const;
const RATE = { type: 'number', example: 1250.4 } as const;
const VERSION = { description: 'Version of the server.', example: '0.1.0' } as const;
const STARTED_AT = { ...MILLISECONDS, description: 'Start time of the server, in Unix milliseconds.' } as const;
const ERRORS = { ...RATE, description: 'Responses with a status of 400 or above per second.', example: 0 } as const;

@ApiSchema({ name: 'ClusterRates' })
class RatesView {
  @ApiProperty({ ...RATE, description: 'Segment IDs per second over the last few seconds.' })
  readonly segment!: number;

  @ApiProperty({ ...RATE, description: 'Snowflake IDs per second over the last few seconds.' })
  readonly snowflake!: number;
}

@ApiSchema({ name: 'ClusterLease', description: 'The worker ID and its lease; left out without a worker ID.' })
class LeaseView {
  @ApiProperty({ description: 'Registry that assigned the worker ID.', example: 'database (mysql://db1:3306/leaf)' })
  readonly registry!: string;

  @ApiProperty(WORKER_ID)
  readonly workerId!: number;

  @ApiProperty({ ...MILLISECONDS, description: 'No ID has a later time, in Unix milliseconds.' })
  readonly ceiling!: number;

  @ApiProperty({
    ...MILLISECONDS,
    nullable: true,
    description: 'Time of the latest report to the registry, in Unix milliseconds; null before the first.',
  })
  readonly lastReportAt!: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'Offset from the clocks of the peers at startup, in milliseconds; null if it was not compared.',
    example: 3.2,
  })
  readonly clockOffsetMs!: number | null;
}

@ApiSchema({ name: 'ClusterTag' })
class UsedTagView {
  @ApiProperty({ example: 'order' })
  readonly tag!: string;

  @ApiProperty({ ...RATE, description: 'IDs per second over the last minute.' })
  readonly idsPerSecond!: number;

  @ApiPropertyOptional({ description: 'Name of the database of the tag; left out if there is only one.', example: 'a' })
  readonly shard?: string;
}

@ApiSchema({ name: 'ClusterTags', description: 'Left out if segment mode is off.' })
class TagsView {
  @ApiProperty({ type: 'integer', description: 'Number of tags that the server knows.', example: 12 })
  readonly count!: number;

  @ApiProperty({ type: [UsedTagView], description: 'The 20 busiest tags, the busiest first.' })
  readonly used!: readonly UsedTagView[];
}

@ApiSchema({
  name: 'ClusterError',
  description:
    'The latest response with a status of 500 or above, refusals because of overload aside; left out if there is none.',
})
class LastErrorView {
  @ApiProperty({ ...MILLISECONDS, description: 'Unix milliseconds.' })
  readonly at!: number;

  @ApiProperty({ description: 'Error code, as in a problem document.', example: 'LEAF_SEGMENT_UNAVAILABLE' })
  readonly code!: string;

  @ApiProperty({ description: 'What happened, and what to do.' })
  readonly message!: string;
}

/** Properties that a server may report. */
class ReportDetails {
  @ApiPropertyOptional()
  readonly snowflake?: LeaseView;

  @ApiPropertyOptional()
  readonly tags?: TagsView;

  @ApiPropertyOptional()
  readonly lastError?: LastErrorView;
}

/** `GET /api/internal/server`: what a server reports about itself, all of its processes together. */
@ApiSchema({ name: 'ServerReport' })
export class ServerReport extends ReportDetails {
  @ApiProperty(INSTANCE)
  readonly instance!: string;

  @ApiProperty({ enum: SERVER_STATES })
  readonly state!: ServerState;

  @ApiPropertyOptional({ description: 'Why the state is not `ready`.' })
  readonly reason?: string;

  @ApiProperty(VERSION)
  readonly version!: string;

  @ApiProperty(STARTED_AT)
  readonly startedAt!: number;

  @ApiProperty()
  readonly idsPerSecond!: RatesView;

  @ApiProperty(ERRORS)
  readonly errorsPerSecond!: number;
}

const STATES =
  '`silent`: no valid response within 1.5 s. `refused`: the server does not accept the cluster token. `unasked`: there is no cluster token, or the server has not been asked yet. All other states are what the server reports.';

/** A server as this one sees it. A server that does not report has only its address, its state and a reason. */
@ApiSchema({ name: 'ClusterServer' })
export class ClusterServer extends ReportDetails implements Partial<Omit<ServerReport, 'state'>> {
  @ApiProperty(INSTANCE)
  readonly instance!: string;

  @ApiProperty({ description: 'Whether this is the server that responds.' })
  readonly self!: boolean;

  @ApiProperty({ enum: [...SERVER_STATES, ...PEER_STATES], description: STATES })
  readonly state!: ServerState | (typeof PEER_STATES)[number];

  @ApiPropertyOptional({ description: 'Why the state is not `ready`, and what to do.' })
  readonly reason?: string;

  @ApiPropertyOptional({ type: 'number', description: 'Duration of the latest request, in milliseconds.', example: 2 })
  readonly answeredInMs?: number;

  @ApiPropertyOptional({
    ...MILLISECONDS,
    description: 'Time of the latest report, in Unix milliseconds; left out if this server has not received one.',
  })
  readonly lastAnsweredAt?: number;

  @ApiPropertyOptional({ ...WORKER_ID, description: 'Its worker ID, as it reports it, or else as in the registry.' })
  readonly workerId?: number;

  @ApiPropertyOptional(VERSION)
  readonly version?: string;

  @ApiPropertyOptional(STARTED_AT)
  readonly startedAt?: number;

  @ApiPropertyOptional()
  readonly idsPerSecond?: RatesView;

  @ApiPropertyOptional(ERRORS)
  readonly errorsPerSecond?: number;
}

/** `GET /api/cluster` */
@ApiSchema({ name: 'Cluster' })
export class ClusterAnswer {
  @ApiProperty({ description: 'Whether this server has a cluster token, so that it asks the other servers.' })
  readonly asked!: boolean;

  @ApiProperty({ ...MILLISECONDS, description: 'Clock of this server, in Unix milliseconds.' })
  readonly now!: number;

  @ApiProperty({ type: [ClusterServer], description: 'This server first, then the others by address; at most 1000.' })
  readonly servers!: readonly ClusterServer[];
}

@ApiSchema({ name: 'ClusterWorker' })
export class ClusterWorker {
  @ApiProperty(WORKER_ID)
  readonly workerId!: number;

  @ApiProperty({ enum: WORKER_KINDS, description: '`window`: a process that issues snowflake IDs itself.' })
  readonly kind!: (typeof WORKER_KINDS)[number];

  @ApiProperty({ description: '`ip:port` of the server, or the name of the process.', example: '10.0.0.7:8080' })
  readonly holder!: string;

  @ApiProperty({
    enum: WORKER_STATES,
    description: '`expired`: the reserved time has passed. `released`: the holder, or the last one, has released it.',
  })
  readonly state!: (typeof WORKER_STATES)[number];

  @ApiProperty({ ...MILLISECONDS, description: 'No ID has a later time, in Unix milliseconds.' })
  readonly ceiling!: number;
}

/** `GET /api/cluster/workers` */
@ApiSchema({ name: 'ClusterWorkers' })
export class ClusterWorkers {
  @ApiProperty({ type: 'integer', description: 'Number of worker IDs; 0 if snowflake mode is off.', example: 1024 })
  readonly workerIds!: number;

  @ApiProperty({ ...MILLISECONDS, description: 'Clock of this server, in Unix milliseconds.' })
  readonly now!: number;

  @ApiProperty({
    type: [ClusterWorker],
    description: 'The worker IDs that have a record, in order; all others are free.',
  })
  readonly workers!: readonly ClusterWorker[];
}

@ApiSchema({ name: 'ClusterOrderResult' })
export class CommandResult {
  @ApiProperty(INSTANCE)
  readonly instance!: string;

  @ApiProperty({ description: 'Whether the server has carried out the command.' })
  readonly done!: boolean;

  @ApiPropertyOptional({ description: 'Why not, and what to do.' })
  readonly reason?: string;
}

/** `POST /api/cluster/orders` */
@ApiSchema({ name: 'ClusterOrderResults' })
export class CommandAnswer {
  @ApiProperty({
    type: [CommandResult],
    description:
      'One for each server that the request names, in the same sequence; for each server of the registry if it names none.',
  })
  readonly results!: readonly CommandResult[];
}
