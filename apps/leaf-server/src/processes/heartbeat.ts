import type { Clock } from '@leaf-ids/core';
import type { Child } from './child';

/** How often a process is pinged, in milliseconds. */
const EVERY_MS = 5000;
/** A process that misses this many pings in a row hangs. */
const MAX_MISSED = 6;

/** Time without an answer after which a process counts as hanging, in milliseconds. */
export const HANG_MS = EVERY_MS * MAX_MISSED;

/**
 * Pings a process from its start until it ends. Missed answers are counted in place of time: after the whole machine was
 * suspended, the answers have not been read yet, and no process is to blame.
 *
 * @returns whether it hangs; false when it has ended, or `signal` was aborted
 */
export async function hangs(child: Child, clock: Clock, signal: AbortSignal): Promise<boolean> {
  for (let missed = 0; missed < MAX_MISSED; missed++) {
    const answered = child.answers;
    child.send({ kind: 'ping' });
    await clock.sleep(EVERY_MS, signal);
    if (child.ended || signal.aborted) return false;
    if (child.answers > answered) missed = -1;
  }
  return true;
}
