import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Busy {
  /** From the begin of the act to its end, in milliseconds. */
  readonly wallMs: number;
  /** Of that and of what it left behind, the time in which the event loop did not wait. */
  readonly busyMs: number;
  /** The longest time between two looks at the timers, which are due every millisecond: that much too long at most. */
  readonly longestMs: number;
}

/** Several looks of the monitor. */
const SETTLE_MS = 5;

/** What `act` costs the event loop of this process, while nothing else uses it. */
export async function observeBusy(act: () => unknown): Promise<Busy> {
  const monitor = monitorEventLoopDelay({ resolution: 1 });
  monitor.enable();
  // It counts from its second look on.
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
