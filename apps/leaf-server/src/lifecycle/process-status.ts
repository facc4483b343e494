import { type LeafModeHealth, type LeafStatus, worstOf } from '@leaf-ids/id';

/** How one process of the server is, as plain data: health, metrics, monitor and console read this. */
export interface ProcessStatus {
  /** Whether it takes connections. One that takes the place of another process waits until it is ready. */
  readonly listening: boolean;
  /** Down while it wants no more requests. */
  readonly drain: LeafModeHealth;
  readonly leaf: LeafStatus;
}

/** The parts that decide whether requests may come. */
export function readinessOf({ drain, leaf: { segment, snowflake } }: ProcessStatus): Record<string, LeafModeHealth> {
  return {
    drain,
    ...(segment && { segment: segment.health }),
    ...(snowflake && { snowflake: snowflake.health }),
  };
}

export function isReady(status: ProcessStatus): boolean {
  return worstOf(Object.values(readinessOf(status))) !== 'down';
}
