import { Injectable, Optional } from '@nestjs/common';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { Clock } from '@leaf/core';
import { SegmentService } from '@leaf/segment';
import { SnowflakeService } from '@leaf/snowflake';
import { Drain } from '../lifecycle/drain';
import { Readiness } from '../lifecycle/readiness';
import { IssueRates } from '../monitor/sampling/issue-rates';
import { serverVersion } from '../config/version';
import { WorkerBus, BusRequest } from '../cluster/worker-bus';
import { Families, type ReadFamily, type Sample } from './families';
import { merged } from './merged';
import { OverloadCounts } from '../http/overload/overload-counts';
import { RequestCounts } from '../http/request-counts';
import { addSegmentMetrics } from './segment-metrics';
import { addServerMetrics } from './server-metrics';
import { addSnowflakeMetrics } from './snowflake-metrics';
import { OTHER_TAGS, TagSeries } from './tag-series';

/** Gauges of prom-client that are named as counters, which tools object to; each is the sum of one that stays. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

const FAMILIES = new BusRequest<undefined, ReadFamily[]>('metrics');

/** The figures of this server in Prometheus text. They are gathered when they are asked for. */
@Injectable()
export class Metrics {
  private readonly families = new Families();
  private readonly tags: TagSeries | undefined;

  constructor(
    requests: RequestCounts,
    overload: OverloadCounts,
    readiness: Readiness,
    drain: Drain,
    clock: Clock,
    rates: IssueRates,
    private readonly bus: WorkerBus,
    @Optional() segments?: SegmentService,
    @Optional() private readonly snowflake?: SnowflakeService,
  ) {
    this.families.counter('leaf_ids_issued_total', 'IDs issued', () => this.issued());
    if (segments !== undefined) {
      this.tags = new TagSeries(segments);
      addSegmentMetrics(this.families, segments, this.tags, rates);
    }
    if (snowflake !== undefined) addSnowflakeMetrics(this.families, snowflake, clock);
    addServerMetrics(this.families, requests, overload, readiness, drain, serverVersion());
    addProcessMetrics(this.families.registry);
    bus.serve(FAMILIES, () => this.read());
  }

  get contentType(): string {
    return this.families.registry.contentType;
  }

  /** Those of all processes of the server. */
  async text(): Promise<string> {
    if (this.bus.count > 1) return merged(await this.bus.ask(FAMILIES, undefined), this.families.shared);
    // All families are read before anything else happens: they tell of one moment.
    this.tags?.look();
    return this.families.registry.metrics();
  }

  private read(): Promise<ReadFamily[]> {
    this.tags?.look();
    return this.families.read();
  }

  private issued(): Sample[] {
    const { tags, snowflake } = this;
    const samples: Sample[] = [];
    if (tags !== undefined) {
      const all = [...tags.figures(), { tag: OTHER_TAGS, issued: tags.otherIssued }];
      samples.push(...all.map(({ tag, issued: value }) => ({ labels: { mode: 'segment', tag }, value })));
    }
    if (snowflake !== undefined) {
      samples.push({ labels: { mode: 'snowflake', tag: '' }, value: snowflake.snapshot().generator.issued });
    }
    return samples;
  }
}

/** Of the process and of Node.js. */
function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
