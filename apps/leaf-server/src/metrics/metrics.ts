import { Injectable, Optional } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { Clock } from '@leaf/core';
import { SegmentService } from '@leaf/segment';
import { SnowflakeService } from '@leaf/snowflake';
import { OverloadCounts } from './overload-counts';
import { RequestCounts } from './request-counts';

/** The figures of this server in Prometheus text. They are gathered when they are asked for; serving pays nothing. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor(
    requests: RequestCounts,
    overload: OverloadCounts,
    clock: Clock,
    @Optional() segments?: SegmentService,
    @Optional() snowflake?: SnowflakeService,
  ) {
    collectDefaultMetrics({ register: this.registry });
    this.countRequests(requests);
    this.countOverload(overload);
    if (segments !== undefined) this.countSegments(segments);
    if (snowflake !== undefined) this.countSnowflake(snowflake, clock);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  private countRequests(requests: RequestCounts): void {
    this.counter('leaf_http_requests_total', 'Requests answered', ['route', 'status'], (counter) => {
      for (const { route, status, requests: count } of requests.all()) counter.inc({ route, status }, count);
    });
  }

  private countOverload(overload: OverloadCounts): void {
    this.counter('leaf_overload_refusals_total', 'Requests and connections turned away', ['reason'], (counter) => {
      for (const [reason, count] of overload.all()) counter.inc({ reason }, count);
    });
    this.gauge('leaf_requests_in_flight', 'Requests that wait or are being answered', (gauge) => {
      gauge.set(overload.inFlight);
    });
  }

  private countSegments(segments: SegmentService): void {
    this.gauge('leaf_segment_tags', 'Tags known', (gauge) => gauge.set(segments.snapshot().length));
    this.gauge('leaf_segment_tags_paused', 'Tags paused on this server', (gauge) => {
      gauge.set(segments.pausedTags().length);
    });
    this.counter('leaf_segment_loads_total', 'Segments loaded from the store', [], (counter) => {
      for (const { loads } of segments.snapshot()) counter.inc(loads);
    });
    this.counter('leaf_segment_load_failures_total', 'Allocations that failed', [], (counter) => {
      for (const { failures } of segments.snapshot()) counter.inc(failures);
    });
    this.counter('leaf_segment_store_backwards_total', 'Ranges refused that were taken already', [], (counter) => {
      for (const { backwards } of segments.snapshot()) counter.inc(backwards);
    });
  }

  private countSnowflake(snowflake: SnowflakeService, clock: Clock): void {
    this.counter('leaf_snowflake_ids_total', 'Snowflake IDs issued', [], (counter) => {
      counter.inc(snowflake.snapshot().generator.issued);
    });
    this.counter('leaf_clock_backwards_total', 'Clock steps backwards, absorbed ones included', [], (counter) => {
      counter.inc(snowflake.snapshot().generator.backwardsSteps);
    });
    this.counter('leaf_lease_report_failures_total', 'Reports to the worker registry that failed', [], (counter) => {
      counter.inc(snowflake.snapshot().lease.report.failures);
    });
    this.counter(
      'leaf_registry_maintenance_failures_total',
      'Rounds of registry housekeeping that failed',
      [],
      (counter) => {
        counter.inc(snowflake.snapshot().maintenance.failures);
      },
    );
    this.gauge('leaf_registry_trouble', '1 while a file stands in for the worker registry', (gauge) => {
      gauge.set(snowflake.registryTrouble === undefined ? 0 : 1);
    });
    this.gauge('leaf_clock_offset_seconds', 'Clock against those of the others, at the start', (gauge) => {
      gauge.set((snowflake.snapshot().clockOffsetMs ?? 0) / 1000);
    });
    this.gauge('leaf_worker_id', 'Worker ID of this server', (gauge) => gauge.set(snowflake.snapshot().lease.workerId));
    this.gauge('leaf_lease_left_seconds', 'Time that is reserved and not used yet', (gauge) => {
      gauge.set((snowflake.snapshot().lease.ceiling - clock.now()) / 1000);
    });
  }

  /** A counter that is counted elsewhere and read when it is asked for. */
  private counter(name: string, help: string, labelNames: string[], read: (counter: Counter) => void): void {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect: () => {
        counter.reset();
        read(counter);
      },
    });
  }

  private gauge(name: string, help: string, read: (gauge: Gauge) => void): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.registry], collect: () => read(gauge) });
  }
}
