import { Injectable } from '@nestjs/common';
import { addMetrics, Leaf, type MetricReading, metricsOf, TagSeries } from '@leaf-ids/id';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { WorkerBus, BusRequest } from '../cluster/worker-bus';
import { LeafLogger } from '../config/logging';
import { serverVersion } from '../config/version';
import { OverloadCounts } from '../http/overload/overload-counts';
import { RequestCounts } from '../http/request-counts';
import { Readiness } from '../lifecycle/readiness';
import { IssueRates } from '../monitor/sampling/issue-rates';
import { merged } from './merged';
import { SERVER_METRICS } from './server-metrics';

/** Gauges of prom-client that are named as counters, which tools object to; each is the sum of one that stays. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

const READINGS = new BusRequest<undefined, MetricReading[]>('metrics');

/** The metrics of this server in Prometheus text. They are read when they are asked for. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor(
    requests: RequestCounts,
    overload: OverloadCounts,
    readiness: Readiness,
    rates: IssueRates,
    leaf: Leaf,
    logger: LeafLogger,
    private readonly bus: WorkerBus,
  ) {
    const { registry } = this;
    const tags = leaf.segments && new TagSeries(leaf.segments, (tag) => rates.rateOf(tag));
    const version = serverVersion();
    addMetrics(registry, metricsOf(leaf.status()), () => ({ status: leaf.status(), tags: tags?.read() }));
    addMetrics(registry, SERVER_METRICS, () => ({ status: readiness.status(), requests, overload, logger, version }));
    addProcessMetrics(registry);
    bus.serve(READINGS, () => registry.getMetricsAsJSON() as unknown as Promise<MetricReading[]>);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Those of all processes of the server. */
  async text(): Promise<string> {
    if (this.bus.count === 1) return this.registry.metrics();
    return merged(await this.bus.ask(READINGS, undefined));
  }
}

/** Of the process and of Node.js. */
function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
