import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '@leaf/core';
import { SnowflakeService } from '@leaf/snowflake';
import { Readiness } from '../../lifecycle/readiness';
import { WorkerBus } from '../../cluster/worker-bus';
import { Parts } from './parts';
import { PeerWatch } from '../sampling/peer-watch';
import { Sampler } from '../sampling/sampler';
import { Traffic } from '../sampling/traffic';
import { ServerIdentity } from './server-identity';
import { toSnowflakeView } from './snowflake-view';
import type { OverviewView, SnowflakeView } from '../views/views';

/** This process as those who watch it see it. Nothing here asks the database or waits for it. */
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
    private readonly bus: WorkerBus,
    @Optional() private readonly snowflakes?: SnowflakeService,
  ) {}

  overview(): OverviewView {
    const { name, version, instance, startedAt } = this.identity;
    const { segment, snowflake } = this.sampler.counts();
    const { rates } = this.traffic;
    const ready = this.readiness.ready;
    const issued = { segment, snowflake };
    const rate = { segment: rates.segment, snowflake: rates.snowflake };
    return {
      name,
      version,
      instance,
      now: this.clock.now(),
      startedAt,
      ready,
      parts: this.parts.all(),
      issued,
      rate,
      errorRate: rates.errors,
      latencyMs: this.sampler.latency(),
      history: this.traffic.history(),
      processes: [{ process: this.bus.process, ready, reason: null, startedAt, workerId: this.workerId, issued, rate }],
    };
  }

  private get workerId(): number | null {
    return this.snowflakes?.snapshot().lease.workerId ?? null;
  }

  snowflake(): SnowflakeView {
    return toSnowflakeView(this.snowflakes, this.peers.list, this.clock.now());
  }
}
