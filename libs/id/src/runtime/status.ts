import type {
  Clock,
  HistogramSnapshot,
  LeafError,
  Numbers,
  PeriodicTaskSnapshot,
  SegmentStore,
  WorkerUsage,
} from '@leaf-ids/core';
import { type FailingTags, type OpenNumbers, reasonOf } from '@leaf-ids/core/internal';
import type { SegmentService } from '../segment/segment.service';
import type { TagEnd, TagEnds } from '../segment/tag-ends';
import type { SnowflakeService } from '../snowflake/snowflake.service';
import type { Health, DatabaseProbe } from './health';

/** Counters include removed tags, so that they never decrease. */
export interface SegmentStatus {
  readonly health: Health;
  readonly tags: number;
  readonly pausedTags: number;
  readonly issued: number;
  readonly loads: number;
  readonly loadFailures: number;
  readonly loadRetries: number;
  /** Ranges refused because they were allocated before. */
  readonly backwards: number;
  /** Durations of allocations in the database, in milliseconds. */
  readonly loadTimes: HistogramSnapshot;
  readonly refreshFailures: number;
}

export interface SnowflakeStatus {
  readonly health: Health;
  readonly workerId: number | undefined;
  readonly issued: number;
  /** Backward steps of the clock, including those without an effect. */
  readonly backwardsSteps: number;
  /** Offset of the clock from the median of the other servers at the start; undefined without other servers. */
  readonly clockOffsetMs: number | undefined;
  /** The lowest and the highest worker ID that this server may have. */
  readonly minWorkerId: number;
  readonly maxWorkerId: number;
  readonly layout: {
    readonly epoch: number;
    readonly timeBits: number;
    readonly workerBits: number;
    /** How many of the worker bits are the number of a data center. */
    readonly datacenterBits: number;
    readonly sequenceBits: number;
    /** The last millisecond that the layout can represent. */
    readonly endsAt: number;
  };
}

/** The worker registry, and the lease of this process. */
export interface RegistryStatus {
  readonly health: Health;
  readonly description: string;
  /** The identity of this process in the registry. */
  readonly instance: string;
  /** The timestamps of IDs are above the floor and at most the ceiling; -1 before the first acquisition. */
  readonly floor: number;
  readonly ceiling: number;
  readonly leaseTtlMs: number;
  /** Time since a ceiling was last recorded, in milliseconds. */
  readonly sinceRecordedMs: number;
  /** Why the lease was lost; undefined while it is held. */
  readonly lost: string | undefined;
  /** Why the worker file replaces the registry. */
  readonly degradedReason: string | undefined;
  readonly report: PeriodicTaskSnapshot;
  readonly maintenanceFailures: number;
  /** Result of the last count. */
  readonly workers: WorkerUsage | undefined;
}

export interface DatabaseStatus {
  readonly health: Health;
  readonly description: string;
}

/** The status of a runtime, as plain data. Without the members of a disabled mode. */
export interface LeafStatus {
  /** Unix milliseconds. */
  readonly now: number;
  readonly segment?: SegmentStatus;
  readonly database?: DatabaseStatus;
  /** The open numbers of gapless tags, as of the last minute. */
  readonly numbers?: readonly OpenNumbers[];
  /** The tags that run out of IDs first, as of the last hour, soonest first; at most 100. */
  readonly ends?: readonly TagEnd[];
  readonly snowflake?: SnowflakeStatus;
  readonly registry?: RegistryStatus;
}

/** The health of each mode that is on, without the figures, which take longer with every tag. A {@link LeafStatus} is one. */
export interface LeafReadiness {
  readonly segment?: Pick<SegmentStatus, 'health'>;
  readonly snowflake?: Pick<SnowflakeStatus, 'health'>;
}

export interface StatusSources {
  readonly clock: Clock;
  readonly segments: SegmentService | undefined;
  readonly numbers: Numbers | undefined;
  readonly tagEnds: TagEnds | undefined;
  readonly store: SegmentStore | undefined;
  readonly probe: DatabaseProbe;
  readonly snowflake: SnowflakeService | undefined;
}

const UP: Health = { status: 'up' };

/** For probes, which ask every second or more often. */
export function readinessOf({ segments, probe, snowflake }: StatusSources): LeafReadiness {
  return {
    ...(segments && { segment: { health: segmentHealth(segments, probe) } }),
    ...(snowflake && { snowflake: { health: snowflakeHealth(snowflake) } }),
  };
}

export function statusOf({ clock, segments, numbers, tagEnds, store, probe, snowflake }: StatusSources): LeafStatus {
  return {
    now: clock.now(),
    ...(segments && { segment: segmentStatus(segments, probe) }),
    ...(numbers && { numbers: numbers.open }),
    ...(tagEnds && { ends: tagEnds.list }),
    ...(segments && store && { database: databaseStatus(segments, store, probe.health) }),
    ...(snowflake && { snowflake: snowflakeStatus(snowflake), registry: registryStatus(snowflake) }),
  };
}

function segmentStatus(segments: SegmentService, probe: DatabaseProbe): SegmentStatus {
  const { generator } = segments;
  const { loads, failures, retries, backwards, times } = generator.totals;
  return {
    health: segmentHealth(segments, probe),
    tags: generator.tagCount,
    pausedTags: generator.pausedTags().length,
    issued: generator.issued,
    loads,
    loadFailures: failures,
    loadRetries: retries,
    backwards,
    loadTimes: times.snapshot(),
    refreshFailures: generator.refresh.snapshot().failures,
  };
}

/** Without the database, segment mode continues from memory if it has read the tags once. */
function segmentHealth({ generator }: SegmentService, probe: DatabaseProbe): Health {
  const { lastError, lastSuccessAt } = generator.refresh.snapshot();
  const message = failingText(generator.failing) ?? lastError ?? probe.health?.message;
  if (message === undefined) return UP;
  return { status: lastSuccessAt === undefined ? 'down' : 'degraded', message };
}

function failingText(failing: FailingTags | undefined): string | undefined {
  if (failing === undefined) return undefined;
  const { tag, count, error } = failing;
  const others = count === 1 ? ' refuses its calls' : ` and ${count - 1} more refuse their calls`;
  return `The tag "${tag}"${others}: no IDs are left in memory, and the database allocates none: ${reasonOf(error)}`;
}

/** Without pings, the result of the last tag refresh decides. */
function databaseStatus(
  segments: SegmentService,
  { description }: SegmentStore,
  pinged: Health | undefined,
): DatabaseStatus {
  const { lastError } = segments.generator.refresh.snapshot();
  const health = pinged ?? (lastError === undefined ? UP : { status: 'down' as const, message: lastError });
  return { health, description };
}

function snowflakeStatus(snowflake: SnowflakeService): SnowflakeStatus {
  const { lease, generator, clockOffsetMs } = snowflake.snapshot();
  const { epoch, timeBits, workerBits, datacenterBits, sequenceBits, maxTimestamp } = snowflake.layout;
  const { first, last } = snowflake.workers;
  return {
    health: snowflakeHealth(snowflake),
    workerId: lease.workerId,
    issued: generator.issued,
    backwardsSteps: generator.backwardsSteps,
    clockOffsetMs,
    minWorkerId: first,
    maxWorkerId: last,
    layout: { epoch, timeBits, workerBits, datacenterBits, sequenceBits, endsAt: maxTimestamp },
  };
}

function snowflakeHealth(snowflake: SnowflakeService): Health {
  const refusal = snowflake.generator.refusal();
  return refusal === undefined ? degradedBy(snowflake) : downBy(refusal);
}

function registryStatus(snowflake: SnowflakeService): RegistryStatus {
  const { lease, maintenance, workers } = snowflake.snapshot();
  const { registry: description, instance, floor, ceiling, sinceRecordedMs, lost, degradedReason, report } = lease;
  return {
    health: lost === undefined ? registryHealth(snowflake) : { status: 'down', message: lost },
    ...{ description, instance, floor, ceiling, sinceRecordedMs, lost, degradedReason, report, workers },
    leaseTtlMs: snowflake.leaseTtlMs,
    maintenanceFailures: maintenance.failures,
  };
}

/** Without a lease, nothing lasts through an outage of the registry. */
function registryHealth(snowflake: SnowflakeService): Health {
  const refusal = snowflake.generator.refusal();
  return refusal?.code === 'LEAF_REGISTRY_UNREACHABLE' ? downBy(refusal) : degradedBy(snowflake);
}

function downBy({ code, message }: LeafError): Health {
  return { status: 'down', code, message };
}

/** While the registry is unreachable, the lease remains valid up to its ceiling. */
function degradedBy(snowflake: SnowflakeService): Health {
  const { lease } = snowflake.snapshot();
  const message = lease.report.lastError ?? lease.degradedReason;
  return message === undefined ? UP : { status: 'degraded', message };
}
