import type { Peer } from '@leaf-ids/core';
import type { RegistryStatus, SnowflakeStatus } from '@leaf-ids/id';
import type { Gathered } from '../../processes/process-bus';
import type { ProcessStatus } from '../../lifecycle/process-status';
import type { SnowflakeView, WorkerView } from '../views/views';

/** @param several whether the server has several processes: then a reason names its own */
export function toSnowflakeView(
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
  const { workerId, maxWorkerId, issued, layout, clockOffsetMs, backwardsSteps } = snowflake;
  const { description, instance, floor, ceiling, horizonMs, lost, degradedReason, report } = registry;
  return {
    registry: description,
    workerId: workerId ?? null,
    ...{ maxWorkerId, instance, floor, ceiling, horizonMs },
    lost: lost ?? null,
    trouble: degradedReason ?? null,
    report: { at: report.lastSuccessAt ?? null, failures: report.failures, error: report.lastError ?? null },
    clock: { offsetMs: clockOffsetMs ?? null, backwardsSteps },
    issued,
    layout,
    peers: peers.map(({ instance: peer, workerId: worker }) => ({ instance: peer, workerId: worker ?? null })),
  };
}
