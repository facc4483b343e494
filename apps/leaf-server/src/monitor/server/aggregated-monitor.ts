import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { ServerStatus } from '../../processes/server-status';
import { ProcessBus, BusRequest } from '../../processes/process-bus';
import { Readiness } from '../../lifecycle/readiness';
import { TakerAccess } from '../../takers/taker-access';
import { ServerIdentity } from '../process/server-identity';
import { PeerWatch } from '../sampling/peer-watch';
import { Sampler } from '../sampling/sampler';
import { Traffic } from '../sampling/traffic';
import type { OverviewView, SnowflakeView } from '../views/views';
import { type ProcessOverview, toOverview } from './overview-view';
import { toSnowflakeView } from './snowflake-view';

const OVERVIEW = new BusRequest<undefined, ProcessOverview>('overview');

/** The server as those who watch it see it: all of its processes together. Nothing here waits for the database. */
@Injectable()
export class AggregatedMonitor {
  constructor(
    private readonly clock: Clock,
    private readonly bus: ProcessBus,
    private readonly status: ServerStatus,
    private readonly identity: ServerIdentity,
    private readonly readiness: Readiness,
    private readonly sampler: Sampler,
    private readonly traffic: Traffic,
    private readonly peers: PeerWatch,
    private readonly takers: TakerAccess,
  ) {
    bus.serve(OVERVIEW, () => this.own());
  }

  async overview(): Promise<OverviewView> {
    const gathered = await this.bus.ask(OVERVIEW, undefined);
    const own = gathered.answers.find(({ process }) => process === this.bus.process)?.value ?? this.own();
    return toOverview(gathered, own, this.identity);
  }

  async snowflake(): Promise<SnowflakeView> {
    const gathered = await this.status.gather();
    return toSnowflakeView(gathered, {
      now: this.clock.now(),
      peers: this.peers.list,
      several: this.bus.count > 1,
    });
  }

  private own(): ProcessOverview {
    const { instance, startedAt } = this.identity;
    return {
      status: this.readiness.status(),
      blockedTakers: this.takers.blockedNames,
      instance,
      startedAt,
      rates: this.traffic.rates,
      latency: this.sampler.latencyCounts(),
      history: this.traffic.history(),
    };
  }
}
