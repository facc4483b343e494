/** One call that was answered. Times are nanoseconds of one machine's monotonic clock. */
export interface Operation {
  readonly caller: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The IDs it got: all numbers from `from` to `to`. */
  readonly from: number;
  readonly to: number;
}

export interface Violation {
  /** Was answered before `later` started. */
  readonly earlier: Operation;
  /** Got an ID that is not above all of `earlier`. */
  readonly later: Operation;
}

export interface Verdict {
  /** Calls that got an ID which is not above one that had been answered before they started. */
  readonly violations: readonly Violation[];
  /** IDs that were given more than once. */
  readonly duplicates: number;
}

/**
 * Checks a history against one counter that all callers share: whoever starts after somebody was answered gets more. For
 * a counter whose calls only ever take, this is what linearizability (Herlihy and Wing, 1990) comes to, once no ID was
 * given twice: calls ordered by their IDs never contradict the order in time.
 *
 * It knows nothing of how the IDs were made. O(n log n).
 */
export function check(operations: readonly Operation[]): Verdict {
  return { violations: violationsOf(operations), duplicates: duplicatesOf(operations) };
}

/** One look at the calls in the order of their starts, with the highest ID that was answered before each of them. */
function violationsOf(operations: readonly Operation[]): Violation[] {
  const byStart = [...operations].sort((a, b) => a.startedAt - b.startedAt);
  const byEnd = [...operations].sort((a, b) => a.endedAt - b.endedAt);
  const violations: Violation[] = [];
  let highest: Operation | undefined;
  let ended = 0;
  for (const later of byStart) {
    for (let next = byEnd[ended]; next !== undefined && next.endedAt < later.startedAt; next = byEnd[++ended]) {
      if (highest === undefined || next.to > highest.to) highest = next;
    }
    if (highest !== undefined && later.from <= highest.to) violations.push({ earlier: highest, later });
  }
  return violations;
}

function duplicatesOf(operations: readonly Operation[]): number {
  let end = -Infinity;
  let count = 0;
  for (const { from, to } of [...operations].sort((a, b) => a.from - b.from)) {
    if (from <= end) count += Math.min(to, end) - from + 1;
    end = Math.max(end, to);
  }
  return count;
}
