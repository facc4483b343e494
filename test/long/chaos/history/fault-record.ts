import type { Fault, Plan } from '../faults/fault';

/** A fault as it happened. Times are milliseconds since the run began. */
export interface FaultRecord {
  readonly plan: Plan;
  readonly fault: Fault;
  /** Another one lasted at the same time. */
  readonly paired: boolean;
  readonly beganAt: number;
  /** Undefined while it lasts. */
  endedAt: number | undefined;
  /** When every edge served again; undefined before. */
  recoveredAt: number | undefined;
  /** From the end of the last fault of its round until then, in milliseconds. */
  recoveryMs: number | undefined;
  /** Part of it in which a process waited for a processor, in milliseconds. */
  starvedMs: number | undefined;
  /** What was not well to the last; undefined when all was well at once. */
  lastTrouble: string | undefined;
}
