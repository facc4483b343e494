import type { Clock } from '@leaf/core';
import type { SnowflakeService } from '@leaf/snowflake';
import type { Families } from './families';

export function addSnowflakeMetrics(families: Families, snowflake: SnowflakeService, clock: Clock): void {
  addLeaseMetrics(families, snowflake, clock);
  families.gauge('leaf_clock_offset_seconds', 'Clock against those of the others, at the start', () => {
    const { clockOffsetMs } = snowflake.snapshot();
    return clockOffsetMs === undefined ? undefined : clockOffsetMs / 1000;
  });
  families.counter(
    'leaf_clock_backwards_total',
    'Clock steps backwards, absorbed ones included',
    () => snowflake.snapshot().generator.backwardsSteps,
  );
  families.gauge(
    'leaf_epoch_left_seconds',
    'Time until the bits of the timestamp are used up',
    () => (snowflake.layout.maxTimestamp - clock.now()) / 1000,
    'least',
  );
  families.gauge('leaf_registry_trouble', '1 while the worker file replaces the worker registry', () =>
    snowflake.registryTrouble === undefined ? 0 : 1,
  );
  families.counter(
    'leaf_registry_maintenance_failures_total',
    'Rounds of registry housekeeping that failed',
    () => snowflake.snapshot().maintenance.failures,
  );
  families.gauge(
    'leaf_registry_workers_used',
    'Worker IDs that a new server could not be given',
    () => snowflake.snapshot().workers?.used,
    'most',
  );
  families.gauge(
    'leaf_registry_workers_max',
    'Worker IDs that there are',
    () => snowflake.snapshot().workers?.most,
    'most',
  );
}

function addLeaseMetrics(families: Families, snowflake: SnowflakeService, clock: Clock): void {
  families.gauge('leaf_worker_id', 'Worker ID of this server', () => snowflake.snapshot().lease.workerId);
  families.gauge(
    'leaf_lease_left_seconds',
    'Time that is reserved and not used yet',
    () => (snowflake.snapshot().lease.ceiling - clock.now()) / 1000,
  );
  families.gauge('leaf_lease_lost', '1 when the worker ID belongs to somebody else', () =>
    snowflake.snapshot().lease.lost === undefined ? 0 : 1,
  );
  families.gauge(
    'leaf_lease_report_age_seconds',
    'Time since time was last reserved',
    () => snowflake.snapshot().lease.sinceRecordedMs / 1000,
  );
  families.counter(
    'leaf_lease_report_failures_total',
    'Reports to the worker registry that failed',
    () => snowflake.snapshot().lease.report.failures,
  );
}
