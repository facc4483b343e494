import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { PeriodicTask, reasonOf, Ticker } from '@leaf-ids/core/internal';
import { Leaf } from '@leaf-ids/id';
import { RequestCounts } from '../../http/request-counts';
import { STREAM_ROUTE } from '../../http/overload/route-kind';
import { Exhaustion, IssueRates } from './issue-rates';
import { type LatencyCounts, LatencyWindow, Traffic, type TrafficCounts } from './traffic';
import { TimeSlice } from './time-slice';

/** Interval between two samples, in milliseconds. */
const EVERY_MS = 1000;
/** Tags are sampled every fifth time. */
const TAG_EVERY = 5;

/** Samples the counters once a second, without any cost for requests. */
@Injectable()
export class Sampler implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Sampler.name);
  private readonly latencies = new LatencyWindow();
  private readonly ticker: Ticker;
  private samples = 0;

  constructor(
    private readonly clock: Clock,
    private readonly requests: RequestCounts,
    private readonly traffic: Traffic,
    private readonly rates: IssueRates,
    private readonly exhaustion: Exhaustion,
    private readonly leaf: Leaf,
  ) {
    const onError = (error: unknown): void =>
      this.logger.error(`Cannot sample the counters for the monitor: ${reasonOf(error)}`);
    const task = new PeriodicTask('sampler', () => this.sample(), clock, onError);
    this.ticker = new Ticker(task.name, () => task.run(), { everyMs: EVERY_MS, atStart: true }, clock);
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  /** Stops last, because a draining server is also monitored. */
  onApplicationShutdown(): Promise<void> {
    return this.ticker.stop();
  }

  /** IDs issued and error responses since the start. */
  private counts(): TrafficCounts {
    const { segments, snowflake } = this.leaf;
    return {
      segment: segments?.generator.issued ?? 0,
      snowflake: snowflake?.generator.snapshot().issued ?? 0,
      errors: this.requests.errors(),
    };
  }

  /** Latencies of the requests in the last minute, without event streams. */
  latencyCounts(): LatencyCounts {
    return this.latencies.counts(this.requests.latencies(STREAM_ROUTE));
  }

  private async sample(): Promise<void> {
    this.leaf.probe.ask();
    const slice = new TimeSlice(this.clock);
    this.traffic.sample(this.counts());
    if (this.samples++ % TAG_EVERY === 0) {
      this.latencies.sample(this.requests.latencies(STREAM_ROUTE));
      await slice.yieldIfOver();
      await this.sampleTags();
    }
  }

  /** Visits each tag once. */
  private sampleTags(): Promise<void> {
    return this.rates.sample((seeIssued) =>
      this.exhaustion.sample(async (seeBuffered) =>
        this.leaf.segments?.generator.survey((tag, issued, buffered) => {
          seeIssued(tag, issued);
          seeBuffered(tag, buffered);
        }),
      ),
    );
  }
}
