import { Injectable } from '@nestjs/common';
import { Readiness } from '../../lifecycle/readiness';
import { WorkerBus, BusRequest } from '../../cluster/worker-bus';
import { Monitor } from '../process/monitor';
import { Sampler } from '../sampling/sampler';
import type { OverviewView, SnowflakeView } from '../views/views';
import { mergeOverviews, mergeSnowflakes, type ProcessOverview } from './merged-views';

const OVERVIEW = new BusRequest<undefined, ProcessOverview>('overview');
const SNOWFLAKE = new BusRequest<undefined, SnowflakeView>('snowflake');

/** The server as those who watch it see it: all of its processes together. */
@Injectable()
export class ServerMonitor {
  constructor(
    private readonly own: Monitor,
    private readonly bus: WorkerBus,
    sampler: Sampler,
    readiness: Readiness,
  ) {
    bus.serve(OVERVIEW, () => ({
      view: own.overview(),
      latency: sampler.latencyCounts(),
      listening: readiness.listening,
    }));
    bus.serve(SNOWFLAKE, () => own.snowflake());
  }

  async overview(): Promise<OverviewView> {
    if (this.bus.count === 1) return this.own.overview();
    return mergeOverviews(await this.bus.ask(OVERVIEW, undefined), this.bus.process);
  }

  async snowflake(): Promise<SnowflakeView> {
    if (this.bus.count === 1) return this.own.snowflake();
    return mergeSnowflakes(await this.bus.ask(SNOWFLAKE, undefined), this.bus.process);
  }
}
