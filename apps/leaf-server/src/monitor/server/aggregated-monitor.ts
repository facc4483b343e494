import { Injectable } from '@nestjs/common';
import { Clock, type Peer } from '@leaf-ids/core';
import type { RegistryStatus, SnowflakeStatus } from '@leaf-ids/id';
import { ServerStatus } from '../../processes/merge-status';
import { BusRequest, type Gathered, ProcessBus } from '../../processes/process-bus';
import { type ProcessStatus, Readiness } from '../../lifecycle/readiness';
import { ClientAccess } from '../../clients/client-access';
import { ServerIdentity } from '../process/server-identity';
import { PeerWatch } from '../sampling/peer-watch';
import { Sampler } from '../sampling/sampler';
import { Traffic } from '../sampling/traffic';
import type { OverviewView, SnowflakeView, WorkerView } from '../views/views';
import { type ProcessOverview, toOverview } from './overview-view';

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
    private readonly clients: ClientAccess,
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
      blockedClients: this.clients.blockedNames,
      instance,
      startedAt,
      rates: this.traffic.rates,
      latency: this.sampler.latencyCounts(),
      history: this.traffic.history(),
    };
  }
}

/** @param several whether the server has several processes: then a reason names its own */
function toSnowflakeView(
  { answers }: Gathered<ProcessStatus>,
  { now, peers, several }: { readonly now: number; readonly peers: readonly Peer[]; readonly several: boolean },
): SnowflakeView {
  const workers = answers.flatMap(({ value: { leaf } }) =>
    leaf.snowflake && leaf.registry ? [toWorkerView(leaf.snowflake, leaf.registry, peers)] : [],
  );
  const refused = answers.find(({ value: { leaf } }) => leaf.snowflake?.health.status === 'down');
  const { code, message } = refused?.value.leaf.snowflake?.health ?? {};
  return {
    enabled: workers.length > 0,
    now,
    worker: workers[0] ?? null,
    workers,
    refusal:
      code === undefined || message === undefined
        ? null
        : { code, detail: several ? `Process ${refused?.process ?? 0}: ${message}` : message },
  };
}

function toWorkerView(snowflake: SnowflakeStatus, registry: RegistryStatus, peers: readonly Peer[]): WorkerView {
  const { workerId, minWorkerId, maxWorkerId, issued, layout, clockOffsetMs, backwardsSteps } = snowflake;
  const { description, instance, floor, ceiling, leaseTtlMs, lost, degradedReason, report } = registry;
  return {
    registry: description,
    workerId: workerId ?? null,
    ...{ minWorkerId, maxWorkerId, instance, floor, ceiling, horizonMs: leaseTtlMs },
    lost: lost ?? null,
    trouble: degradedReason ?? null,
    report: { at: report.lastSuccessAt ?? null, failures: report.failures, error: report.lastError ?? null },
    clock: { offsetMs: clockOffsetMs ?? null, backwardsSteps },
    issued,
    layout,
    peers: peers.map(({ instance: peer, workerId: worker }) => ({ instance: peer, workerId: worker ?? null })),
  };
}
