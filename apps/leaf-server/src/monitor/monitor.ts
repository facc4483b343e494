import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '@leaf/core';
import { SnowflakeService } from '@leaf/snowflake';
import { Readiness } from '../health/readiness';
import { Parts } from './parts';
import { PeerWatch } from './sampling/peer-watch';
import { Sampler } from './sampling/sampler';
import { Traffic } from './sampling/traffic';
import { ServerIdentity } from './server-identity';
import { toSnowflakeView } from './snowflake-view';
import type { OverviewView, SnowflakeView } from './views';

/** This server as those who watch it see it. Nothing here asks the database or waits for it. */
@Injectable()
export class Monitor {
  constructor(
    private readonly clock: Clock,
    private readonly identity: ServerIdentity,
    private readonly readiness: Readiness,
    private readonly parts: Parts,
    private readonly sampler: Sampler,
    private readonly traffic: Traffic,
    private readonly peers: PeerWatch,
    @Optional() private readonly snowflakes?: SnowflakeService,
  ) {}

  overview(): OverviewView {
    const { name, version, instance, startedAt } = this.identity;
    const { segment, snowflake } = this.sampler.counts();
    const { rates } = this.traffic;
    return {
      name,
      version,
      instance,
      now: this.clock.now(),
      startedAt,
      ready: this.readiness.ready,
      parts: this.parts.all(),
      issued: { segment, snowflake },
      rate: { segment: rates.segment, snowflake: rates.snowflake },
      errorRate: rates.errors,
      latencyMs: this.sampler.latency(),
      history: this.traffic.history(),
    };
  }

  snowflake(): SnowflakeView {
    return toSnowflakeView(this.snowflakes, this.peers.list, this.clock.now());
  }
}
