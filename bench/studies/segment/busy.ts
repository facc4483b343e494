import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Busy {
  /** Duration of the operation, in milliseconds. */
  readonly wallMs: number;
  /** Active time of the event loop during the operation and its deferred work. */
  readonly busyMs: number;
  /** The longest interval between runs of a 1 ms timer; at most 1 ms too long. */
  readonly longestMs: number;
}

/** Several samples of the monitor. */
const SETTLE_MS = 5;

/** Measures how long `act` occupies the event loop of this otherwise idle process. */
export async function observeBusy(act: () => unknown): Promise<Busy> {
  const monitor = monitorEventLoopDelay({ resolution: 1 });
  monitor.enable();
  // The monitor counts from its second sample.
  await sleep(SETTLE_MS);
  const before = performance.eventLoopUtilization();
  const begunAt = performance.now();
  await act();
  const wallMs = performance.now() - begunAt;
  await sleep(SETTLE_MS);
  const { active } = performance.eventLoopUtilization(before);
  monitor.disable();
  return { wallMs, busyMs: active, longestMs: monitor.max / 1e6 };
}
