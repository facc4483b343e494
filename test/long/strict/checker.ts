/** When a call was made. Times are nanoseconds of one machine's monotonic clock. */
export interface Call {
  readonly caller: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** One call that was answered. */
export interface Operation extends Call {
  /** The lowest ID it got, and the highest. */
  readonly from: number;
  readonly to: number;
  /** Its IDs in their order, unless they are all numbers from `from` to `to`. */
  readonly ids?: readonly number[];
}

export function operationOf(call: Call, ids: readonly number[]): Operation {
  const from = ids.reduce((least, id) => Math.min(least, id), Infinity);
  const to = ids.reduce((most, id) => Math.max(most, id), -Infinity);
  const isRun = ids.every((id, index) => id === from + index);
  return { ...call, from, to, ...(isRun ? {} : { ids }) };
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
  /** Calls whose IDs do not ascend. */
  readonly disordered: readonly Operation[];
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
  return {
    violations: violationsOf(operations),
    disordered: operations.filter(({ ids = [] }) => ids.some((id, index) => index > 0 && id <= ids[index - 1]!)),
    duplicates: duplicatesOf(operations),
  };
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
  const runs = operations.flatMap(({ ids, ...run }) => ids?.map((id) => ({ from: id, to: id })) ?? [run]);
  for (const { from, to } of runs.sort((a, b) => a.from - b.from)) {
    if (from <= end) count += Math.min(to, end) - from + 1;
    end = Math.max(end, to);
  }
  return count;
}
