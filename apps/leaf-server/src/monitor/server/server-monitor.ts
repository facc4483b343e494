import { Injectable } from '@nestjs/common';
import { Readiness } from '../../lifecycle/readiness';
import { Siblings, Topic } from '../../cluster/siblings';
import { Monitor } from '../process/monitor';
import { Sampler } from '../sampling/sampler';
import type { OverviewView, SnowflakeView } from '../views/views';
import { mergeOverviews, mergeSnowflakes, type ProcessOverview } from './merged-views';

const OVERVIEW = new Topic<undefined, ProcessOverview>('overview');
const SNOWFLAKE = new Topic<undefined, SnowflakeView>('snowflake');

/** The server as those who watch it see it: all of its processes together. */
@Injectable()
export class ServerMonitor {
  constructor(
    private readonly own: Monitor,
    private readonly siblings: Siblings,
    sampler: Sampler,
    readiness: Readiness,
  ) {
    siblings.serve(OVERVIEW, () => ({
      view: own.overview(),
      latency: sampler.latencyCounts(),
      listening: readiness.listening,
    }));
    siblings.serve(SNOWFLAKE, () => own.snowflake());
  }

  async overview(): Promise<OverviewView> {
    if (this.siblings.count === 1) return this.own.overview();
    return mergeOverviews(await this.siblings.gather(OVERVIEW, undefined), this.siblings.process);
  }

  async snowflake(): Promise<SnowflakeView> {
    if (this.siblings.count === 1) return this.own.snowflake();
    return mergeSnowflakes(await this.siblings.gather(SNOWFLAKE, undefined), this.siblings.process);
  }
}
