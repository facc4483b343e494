import { Controller, Get, Inject, Injectable, Res } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { FastifyReply } from 'fastify';
import { Leaf } from '@leaf-ids/id';
import { addMetrics, type LeafFigures, type MetricReading, metricsOf, TagSeries } from '@leaf-ids/id/internal';
import { Clock } from '@leaf-ids/core';
import { ProcessBus } from '../processes/process-bus';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { LeafLogger } from '../config/logging';
import { serverVersion } from '../config/version';
import { OverloadCounts } from '../http/overload/refusals';
import { RequestCounts } from '../http/request-counts';
import { Readiness } from '../lifecycle/readiness';
import { CachedRead } from '../monitor/sampling/cached-read';
import { Exhaustion, IssueRates } from '../monitor/sampling/issue-rates';
import { TimeSlice } from '../monitor/sampling/time-slice';
import { ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { contentOf } from '../openapi/schemas';
import { exposition } from './exposition';
import { merged, ReadingPages } from './reading-pages';
import { SERVER_METRICS } from './server-metrics';

/** Gauges of prom-client that are named as counters, which tools object to; each is the sum of one that stays. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** Age up to which scrapes share a text, in milliseconds. */
const SHARED_FOR_MS = 250;

/** The types of prom-client do not have this method of a metric. */
interface Readable {
  get(): Promise<MetricReading>;
}

/**
 * The metrics of this server in Prometheus text. They are read when a scrape asks for them, and written in slices;
 * concurrent scrapes share one text.
 */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();
  private readonly pages: ReadingPages;
  /** Bytes, because Node.js copies a string body to the heap for each response. */
  private readonly shared: CachedRead<Buffer>;
  private readonly tags: TagSeries | undefined;
  /** Figures of the reading in progress. */
  private figures: LeafFigures;

  constructor(
    requests: RequestCounts,
    overload: OverloadCounts,
    readiness: Readiness,
    rates: IssueRates,
    exhaustion: Exhaustion,
    logger: LeafLogger,
    @Inject(LEAF_CONFIG) { name }: LeafConfig,
    private readonly leaf: Leaf,
    private readonly bus: ProcessBus,
    private readonly clock: Clock,
  ) {
    const { registry } = this;
    const version = serverVersion();
    this.tags = leaf.segments && new TagSeries(leaf.segments.generator, (tag) => rates.rateOf(tag));
    this.figures = { status: leaf.status(), tags: undefined };
    addMetrics(registry, metricsOf(this.figures.status), () => this.figures);
    const known = { requests, overload, exhaustion, logger, version, name };
    addMetrics(registry, SERVER_METRICS, () => ({
      status: { ...readiness.current(), leaf: this.figures.status },
      ...known,
    }));
    addProcessMetrics(registry);
    this.pages = new ReadingPages(bus, () => this.read());
    this.shared = new CachedRead(async () => Buffer.from(await this.write()), SHARED_FOR_MS, clock);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** The metrics of all processes of the server, in UTF-8. */
  text(): Promise<Buffer> {
    return this.shared.get();
  }

  private async write(): Promise<string> {
    const readings = this.bus.count === 1 ? this.read() : merged(await this.pages.gather());
    return exposition(readings, new TimeSlice(this.clock));
  }

  /** Reads one metric at a time, in slices; the figures of the tags are read at one moment. */
  private async *read(): AsyncGenerator<MetricReading, void> {
    const slice = new TimeSlice(this.clock);
    const status = this.leaf.status();
    await slice.yieldIfOver();
    this.figures = { status, tags: this.tags?.read() };
    for (const metric of this.registry.getMetricsAsArray() as unknown as Readable[]) {
      await slice.yieldIfOver();
      yield metric.get();
    }
  }
}

/** Adds the default metrics of the process and of Node.js. */
function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}

@Controller('metrics')
@ApiTags('Watching')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @ApiOperation({ operationId: 'metrics', summary: 'The figures of this server for Prometheus' })
  @ApiResponse({
    status: 200,
    description: 'The figures.',
    ...contentOf('text/plain', 'Exposition format 0.0.4.', 'leaf_segment_tags 1'),
  })
  async text(@Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    void reply.header('content-type', this.metrics.contentType);
    return this.metrics.text();
  }
}
