import { Injectable, Optional } from '@nestjs/common';
import { Clock, TagStore } from '@leaf-ids/core';
import { serverInstance } from '@leaf-ids/core/internal';
import { Leaf } from '@leaf-ids/id';
import { BusRequest, type Gathered, ProcessBus } from '../processes/process-bus';
import { LastFailure, type ServerFailure } from '../http/responses/problem';
import { CachedRead } from '../monitor/sampling/cached-read';
import { round2 } from '../monitor/sampling/traffic';
import { IssueRates, type TagRate } from '../monitor/sampling/issue-rates';
import { AggregatedMonitor } from '../monitor/server/aggregated-monitor';
import type { SnowflakeView } from '../monitor/views/views';
import { MAX_TAGS, MAX_TEXT } from './report-shape';
import { KEPT_MS, type ServerReport } from './views';

/** Details of a process that the monitor lacks. */
interface ProcessDetails {
  /** Undefined if segment mode is off. */
  readonly tags: number | undefined;
  /** More than the report has, because each process issues a share of the IDs of a tag. */
  readonly busiest: readonly TagRate[];
  readonly lastFailure: ServerFailure | undefined;
}

const DETAILS = new BusRequest<undefined, ProcessDetails>('cluster report');

/** The report of this server about itself: the views of the monitor, all processes together. It asks no other server. */
@Injectable()
export class OwnReport {
  private readonly report: CachedRead<ServerReport>;

  constructor(
    clock: Clock,
    private readonly bus: ProcessBus,
    private readonly monitor: AggregatedMonitor,
    rates: IssueRates,
    failures: LastFailure,
    leaf: Leaf,
    @Optional() private readonly tags?: TagStore,
  ) {
    this.report = new CachedRead(() => this.make(), KEPT_MS, clock);
    bus.serve(DETAILS, async () => ({
      tags: leaf.segments?.generator.tagCount,
      busiest: await rates.busiest(2 * MAX_TAGS),
      lastFailure: failures.latest,
    }));
  }

  /** The report of this server, at most a second old. */
  get(): Promise<ServerReport> {
    return this.report.get();
  }

  private async make(): Promise<ServerReport> {
    const [overview, snowflake, details] = await Promise.all([
      this.monitor.overview(),
      this.monitor.snowflake(),
      this.bus.ask(DETAILS, undefined),
    ]);
    const { instance, version, startedAt, rate, errorRate, state, reason } = overview;
    return {
      instance: serverInstance(instance),
      state,
      ...(reason === null ? {} : { reason: reason.slice(0, MAX_TEXT) }),
      version,
      startedAt,
      idsPerSecond: { segment: rate.segment, snowflake: rate.snowflake },
      errorsPerSecond: errorRate,
      ...leaseOf(snowflake),
      ...this.tagsOf(details),
      ...lastErrorOf(details),
    };
  }

  private tagsOf({ answers }: Gathered<ProcessDetails>): Pick<ServerReport, 'tags'> {
    const counts = answers.flatMap(({ value }) => value.tags ?? []);
    if (counts.length === 0) return {};
    const rates = new Map<string, number>();
    for (const { tag, rate } of answers.flatMap(({ value }) => value.busiest)) {
      rates.set(tag, (rates.get(tag) ?? 0) + rate);
    }
    const busiest = [...rates].sort(([, a], [, b]) => b - a).slice(0, MAX_TAGS);
    const used = busiest.map(([tag, rate]) => {
      const shard = this.tags?.shardOf(tag);
      return { tag, idsPerSecond: round2(rate), ...(shard === undefined ? {} : { shard }) };
    });
    return { tags: { count: Math.max(...counts), used } };
  }
}

function leaseOf({ worker }: SnowflakeView): Pick<ServerReport, 'snowflake'> {
  if (worker === null || worker.workerId === null) return {};
  const { registry, workerId, ceiling, report, clock } = worker;
  return { snowflake: { registry, workerId, ceiling, lastReportAt: report.at, clockOffsetMs: clock.offsetMs } };
}

function lastErrorOf({ answers }: Gathered<ProcessDetails>): Pick<ServerReport, 'lastError'> {
  const failures = answers.flatMap(({ value }) => value.lastFailure ?? []);
  const latest = failures.sort((a, b) => b.at - a.at)[0];
  return latest === undefined ? {} : { lastError: { ...latest, message: latest.message.slice(0, MAX_TEXT) } };
}
