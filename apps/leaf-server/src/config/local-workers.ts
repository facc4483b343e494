/**
 * What is wrong with a map of workers for servers of so many processes each: the first process of a server has the
 * worker ID of its entry, the others those that follow.
 */
export function localWorkerFaults(
  workers: Readonly<Record<string, number>>,
  processes: number,
  maxWorkerId: number,
): string[] {
  const entries = Object.entries(workers).sort(([, a], [, b]) => a - b);
  const highest = (entries.at(-1)?.[1] ?? 0) + processes - 1;
  const faults: string[] = [];
  if (highest > maxWorkerId) {
    const ids = processes === 1 ? `worker ID ${highest}` : `worker IDs up to ${highest} with ${processes} processes`;
    faults.push(`LEAF_LOCAL_WORKERS gives ${ids}, but the bits of LEAF_SNOWFLAKE_BITS hold 0 to ${maxWorkerId}`);
  }
  const index = entries.findIndex(([, id], at) => id < (entries[at - 1]?.[1] ?? -Infinity) + processes);
  const [before, after] = [entries[index - 1], entries[index]];
  if (before !== undefined && after !== undefined) {
    const apart = Object.fromEntries(entries.map(([instance], at) => [instance, at * processes]));
    faults.push(
      `LEAF_LOCAL_WORKERS gives ${after[0]} worker ID ${after[1]}, which a process of ${before[0]} uses: LEAF_PROCESSES=${processes} takes ${before[1]} to ${before[1] + processes - 1}. Leave a range for the processes of each server, for example ${JSON.stringify(apart)}`,
    );
  }
  return faults;
}
