import type { LeafModeHealth, LeafReadiness, LeafStatus } from '@leaf-ids/id';
import { worstOf } from '@leaf-ids/id/internal';

/** Whether one process of the server is ready, as plain data: probes read this. */
export interface ProcessReadiness {
  /** Whether it takes connections. One that takes the place of another process waits until it is ready. */
  readonly listening: boolean;
  /** Down while it wants no more requests. */
  readonly drain: LeafModeHealth;
  readonly leaf: LeafReadiness;
}

/** The status of one process, as plain data: metrics, monitor and console read this. */
export interface ProcessStatus extends ProcessReadiness {
  readonly leaf: LeafStatus;
}

/** The parts that decide whether requests may come. */
export function readinessOf({ drain, leaf: { segment, snowflake } }: ProcessReadiness): Record<string, LeafModeHealth> {
  return {
    drain,
    ...(segment && { segment: segment.health }),
    ...(snowflake && { snowflake: snowflake.health }),
  };
}

export function isReady(status: ProcessReadiness): boolean {
  return worstOf(Object.values(readinessOf(status))) !== 'down';
}
