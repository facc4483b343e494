import type { Peer } from '@leaf/core';
import type { SnowflakeService } from '@leaf/snowflake';
import type { SnowflakeView, WorkerView } from '../views/views';

/** @param snowflake undefined when the mode is off */
export function toSnowflakeView(
  snowflake: SnowflakeService | undefined,
  peers: readonly Peer[],
  now: number,
): SnowflakeView {
  if (snowflake === undefined) return { enabled: false, now, worker: null, workers: [], refusal: null };
  const refusal = snowflake.refusal();
  const worker = toWorkerView(snowflake, peers);
  return {
    enabled: true,
    now,
    worker,
    workers: [worker],
    refusal: refusal === undefined ? null : { code: refusal.code, detail: refusal.message },
  };
}

function toWorkerView(snowflake: SnowflakeService, peers: readonly Peer[]): WorkerView {
  const { layout } = snowflake;
  const { lease, generator, clockOffsetMs } = snowflake.snapshot();
  return {
    registry: lease.registry,
    workerId: lease.workerId ?? null,
    maxWorkerId: layout.maxWorkerId,
    instance: lease.instance,
    floor: lease.floor,
    ceiling: lease.ceiling,
    horizonMs: snowflake.horizonMs,
    lost: lease.lost ?? null,
    trouble: snowflake.registryTrouble ?? null,
    report: {
      at: lease.report.lastSuccessAt ?? null,
      failures: lease.report.failures,
      error: lease.report.lastError ?? null,
    },
    clock: { offsetMs: clockOffsetMs ?? null, backwardsSteps: generator.backwardsSteps },
    issued: generator.issued,
    layout: {
      epoch: layout.epoch,
      timeBits: layout.timeBits,
      workerBits: layout.workerBits,
      sequenceBits: layout.sequenceBits,
      endsAt: layout.maxTimestamp,
    },
    peers: peers.map(({ instance, workerId }) => ({ instance, workerId: workerId ?? null })),
  };
}
